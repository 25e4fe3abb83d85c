/**
 * Counts how this process's attempts end, and stores what it counted: two seconds after the first attempt that
 * is not stored yet, one record for each process and minute. A process that runs nothing stores nothing and has
 * no timer.
 *
 * Minutes are of the store's clock. No call asks for it: a fence tells when the job was leased.
 */
import type { SwapResult } from "../../core/records.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { AttemptView, ExtensionHost, Timings } from "../../engine/extension.ts";
import { liveKey, MINUTE_MS, TTL_MS } from "./stats-records.ts";
import { MOST_SERIES, Tally } from "./tally.ts";

/** A killed process loses so much at most. */
const STORE_AFTER_MS = 1_900;
/** What cannot be stored waits in so many minutes at most; then the oldest become one. */
const MOST_PARTS = 10;

type CountedKind = "succeed" | "retry" | "die" | "cancel";

/** A minute of this process. */
interface Part {
  minute: number;
  tally: Tally;
  version: number | null;
  /** Counts what was added, so that what comes while a call is on its way is not forgotten. */
  added: number;
  stored: number;
}

export interface StatsWriterOptions {
  readonly host: ExtensionHost;
  /** Something was stored that will have to be merged. */
  readonly onStored: (minute: number) => void;
}

export class StatsWriter {
  readonly #host: ExtensionHost;
  readonly #onStored: (minute: number) => void;
  /** Oldest first; the last one is this minute's. */
  #parts: Part[] = [];
  #current: Part | null = null;
  /** Monotonic: when the next minute of the store begins. */
  #turnsAt = -Infinity;
  #isArmed = false;
  #isClosed = false;
  #storing: Promise<void> | null = null;
  #wasTold = false;

  constructor({ host, onStored }: StatsWriterOptions) {
    this.#host = host;
    this.#onStored = onStored;
  }

  /** Timings are null of an attempt that was refused before it began. */
  count(attempt: AttemptView, kind: Outcome["kind"], timings: Timings | null): void {
    if (kind === "snooze" || kind === "release") return;
    const now = this.#host.runtime.monotonic();
    let part = this.#current;
    if (part === null || now >= this.#turnsAt) part = this.#turn(attempt, timings, now);
    const series = part.tally.series(attempt.queue, attempt.type);
    series[COUNTED[kind]] += 1;
    if (timings !== null) series.wait.add(timings.waitedMs);
    // Nothing ran, for example because a lock said so.
    if (timings !== null && timings.ranMs > 0) series.run.add(timings.ranMs);
    part.added += 1;
    if (!this.#isArmed) this.#arm();
  }

  /** Stores what is not stored yet; calls that meet share one write. */
  async store(): Promise<void> {
    if (this.#storing) await this.#storing.catch(() => {});
    const isDirty = this.#parts.some(({ added, stored }) => added > stored);
    if (!isDirty) return;
    this.#storing ??= this.#storeParts().finally(() => (this.#storing = null));
    await this.#storing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.store();
  }

  #turn({ fence }: AttemptView, timings: Timings | null, now: number): Part {
    const storeNow = fence / 1_000 + (timings?.ranMs ?? 0);
    // Never back: a minute that is over may have been merged.
    const minute = Math.max(Math.floor(storeNow / MINUTE_MS), this.#current?.minute ?? 0);
    this.#turnsAt = now + Math.max(0, (minute + 1) * MINUTE_MS - storeNow);
    if (this.#current?.minute === minute) return this.#current;
    const part = { minute, tally: new Tally(MOST_SERIES), version: null, added: 0, stored: 0 };
    this.#current = part;
    this.#parts = [...this.#parts.filter(({ added, stored }) => added > stored), part];
    if (this.#parts.length > MOST_PARTS) this.#foldOldest();
    return part;
  }

  /** The oldest goes into the next. If the store had a part of it, that may be merged already: then it is left. */
  #foldOldest(): void {
    const [oldest, next] = this.#parts;
    this.#parts.shift();
    if (!oldest || !next || oldest.version !== null) return;
    next.tally.addTally(oldest.tally);
    next.added += 1;
  }

  #arm(): void {
    if (this.#isClosed) return;
    this.#isArmed = true;
    this.#host.runtime.timer(STORE_AFTER_MS, () => void this.#storeLater(), { background: true });
  }

  async #storeLater(): Promise<void> {
    this.#isArmed = false;
    try {
      await this.store();
      this.#wasTold = false;
    } catch (error) {
      // Once per outage. What was counted is kept, and stored when the store answers.
      if (!this.#wasTold) this.#host.logger.warn("statistics cannot be stored now", { error });
      this.#wasTold = true;
    }
    const isDirty = this.#parts.some(({ added, stored }) => added > stored);
    if (isDirty && !this.#isArmed) this.#arm();
  }

  async #storeParts(): Promise<void> {
    const { records, workers } = this.#host;
    const parts = this.#parts.filter(({ added, stored }) => added > stored);
    const added = parts.map((part) => part.added);
    const swaps = parts.map(({ minute, tally, version }) => ({
      key: liveKey(minute, workers.id),
      expect: version,
      value: JSON.stringify(tally.rows()),
      ttlMs: TTL_MS,
    }));
    let results = await records.swap(swaps);
    // The reply to an earlier write got lost: no other process writes these keys.
    const again = results.map((result) => (result.swapped ? null : result.current));
    if (again.some((found) => found !== null)) {
      const mended = swaps.flatMap((swap, at) =>
        again[at] ? [{ ...swap, expect: again[at].version }] : [],
      );
      const rest = await records.swap(mended);
      results = results.map((result, at) => (again[at] ? rest.shift()! : result));
    }
    parts.forEach((part, at) => this.#took(part, added[at]!, results[at]));
  }

  #took(part: Part, added: number, result: SwapResult | undefined): void {
    if (result?.swapped) {
      part.stored = added;
      part.version = result.version;
      this.#onStored(part.minute);
    } else if (part === this.#current && result?.current === null) {
      // The store has lost it, as Redis does when it is flushed: it is written anew.
      part.version = null;
    } else {
      // Merged already, as its process was away for too long: what it would add now could not be told apart.
      part.stored = part.added;
    }
    const isOver = part !== this.#current && part.stored === part.added;
    if (isOver) this.#parts = this.#parts.filter((other) => other !== part);
  }
}

const COUNTED: Readonly<Record<CountedKind, "succeeded" | "retried" | "dead" | "cancelled">> = {
  succeed: "succeeded",
  retry: "retried",
  die: "dead",
  cancel: "cancelled",
};
