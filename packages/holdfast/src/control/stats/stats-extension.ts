/** Attaches the statistics to the engine: every attempt that is settled is counted, by the process that ran it. */
import type { AttemptView, Extension, ExtensionHost } from "../../engine/extension.ts";
import { waitAtMost } from "../../engine/runtime.ts";
import { mergeStats, MINUTE_GRACE_MS } from "./merge-stats.ts";
import { MINUTE_MS } from "./stats-records.ts";
import { StatsWriter } from "./stats-writer.ts";

/** Processes do not march in step: the first of them merges, the others find it done. */
const SPREAD_MS = 20_000;
/** How long a process that closes waits for its last figures to be stored. */
const CLOSING_MS = 900;
/** After trouble with the store. */
const AGAIN_MS = MINUTE_MS;

export interface StatsExtension extends Extension {
  /** What this process counted is in the store. */
  store(): Promise<void>;
}

export function statsExtension(host: ExtensionHost): StatsExtension {
  const merger = new Merger(host);
  const writer = new StatsWriter({ host, onStored: () => merger.soon() });
  /** Of attempts that were refused before they began: they end without a word. */
  const refused = new WeakSet<AttemptView>();
  return {
    name: "stats",
    decided(attempt, outcome) {
      // What began has a payload, and `ended` will tell.
      if (attempt.payload !== undefined) return undefined;
      refused.add(attempt);
      if (outcome.kind === "die" || outcome.kind === "retry") {
        writer.count(attempt, outcome.kind, null);
      }
      return undefined;
    },
    ended(attempt, how, outcome, timings) {
      if (how !== "settled" || outcome === null) return;
      if (attempt.payload === undefined && refused.has(attempt)) return;
      writer.count(attempt, outcome.kind, timings);
    },
    async closing() {
      merger.close();
      // A store that is away costs what was counted last, and holds up no process that ends.
      const stored = writer.close().catch((error: unknown) => {
        host.logger.debug("the last statistics were not stored", { error });
      });
      await waitAtMost(host.runtime, stored, CLOSING_MS);
    },
    store: () => writer.store(),
  };
}

/** Merges a minute after its end, and hours after theirs, for as long as this process has counted something. */
class Merger {
  readonly #host: ExtensionHost;
  /** Monotonic; infinite: there is nothing to do. */
  #dueAt = Infinity;
  /** What was stored last can be merged then, at the latest. */
  #lastDueAt = -Infinity;
  #isArmed = false;
  #isClosed = false;

  constructor(host: ExtensionHost) {
    this.#host = host;
  }

  soon(): void {
    const { runtime } = this.#host;
    const inMs = MINUTE_MS + MINUTE_GRACE_MS + runtime.random() * SPREAD_MS;
    this.#lastDueAt = runtime.monotonic() + inMs;
    this.#wantIn(inMs);
  }

  close(): void {
    this.#isClosed = true;
  }

  #wantIn(ms: number): void {
    this.#dueAt = Math.min(this.#dueAt, this.#host.runtime.monotonic() + ms);
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed || this.#isClosed || this.#dueAt === Infinity) return;
    this.#isArmed = true;
    const { runtime } = this.#host;
    // A longer wait than a timer can have is cut: it looks again.
    const waitMs = this.#dueAt - runtime.monotonic();
    runtime.timer(waitMs, () => void this.#look(), { background: true });
  }

  async #look(): Promise<void> {
    const { runtime, records, jobs, logger } = this.#host;
    if (this.#isClosed) return;
    if (runtime.monotonic() < this.#dueAt) {
      this.#isArmed = false;
      return this.#arm();
    }
    this.#dueAt = this.#lastDueAt > runtime.monotonic() ? this.#lastDueAt : Infinity;
    let nextMs: number | null = AGAIN_MS;
    try {
      nextMs = await mergeStats(records, await jobs.now());
    } catch (error) {
      logger.debug("statistics could not be merged now", { error });
    }
    this.#isArmed = false;
    if (nextMs !== null) this.#wantIn(nextMs + runtime.random() * SPREAD_MS);
    else this.#arm();
  }
}
