/**
 * Upkeep, in every process that works: reap what crashed workers left, relay what waits in the
 * outbox, prune what is past its keeping, here and in the ledger, say how full the store's memory is. No
 * leader: every chore may run anywhere, at the same time, twice.
 */
import type { LedgerWriter } from "./settle/ledger-writer.ts";
import type { Events } from "./events.ts";
import type { Logger } from "./logger.ts";
import { Relay } from "./settle/relay.ts";
import { reportMemory } from "./report-memory.ts";
import type { Retention } from "./retention.ts";
import type { Runtime, Timer } from "./runtime.ts";
import { isRetryable, type StoreLink } from "./store-link.ts";

const REAP_EVERY_MS = 1_000;
const REAP_STEP = 200;
const RELAY_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 60_000;
const PRUNE_STEP = 500;
const REPORT_MEMORY_EVERY_MS = 600_000;

export interface ChoresOptions {
  readonly link: StoreLink;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly events: Events;
  readonly retention: Retention;
  readonly ledgerWriter: LedgerWriter;
  readonly leaseMs: number;
}

/** Answers in how many milliseconds it wants to be done again, if that is sooner than usual. */
type Chore = () => Promise<number | void>;

export class Chores {
  readonly #options: ChoresOptions;
  readonly #timers = new Set<Timer>();
  #stopped = false;

  constructor(options: ChoresOptions) {
    this.#options = options;
  }

  start(): void {
    const reapEveryMs = Math.min(REAP_EVERY_MS, this.#options.leaseMs / 5);
    this.#repeat("reap", reapEveryMs, () => this.#reap());
    const { link, ledgerWriter, logger } = this.#options;
    const relay = new Relay({ link, ledgerWriter, isStopped: () => this.#stopped });
    this.#repeat("relay", RELAY_EVERY_MS, () => relay.relayLocal());
    this.#repeat("prune", PRUNE_EVERY_MS, () => this.#prune());
    this.#repeat("report memory", REPORT_MEMORY_EVERY_MS, async () =>
      reportMemory(link.store.info(), logger),
    );
    if (ledgerWriter.home === "nowhere") return;
    if (ledgerWriter.home === "elsewhere") {
      this.#repeat("relay to the ledger", RELAY_EVERY_MS, () => relay.relayToLedger());
    }
    this.#repeat("trim the ledger", PRUNE_EVERY_MS, () => this.#trim());
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #repeat(name: string, everyMs: number, chore: Chore, atMostMs = everyMs): void {
    const { runtime } = this.#options;
    const usualMs = everyMs * (0.75 + runtime.random() / 4);
    const timer = runtime.timer(Math.min(usualMs, atMostMs), () => {
      this.#timers.delete(timer);
      void this.#try(name, chore).then((wantedMs) => {
        if (!this.#stopped) this.#repeat(name, everyMs, chore, wantedMs ?? everyMs);
      });
    });
    this.#timers.add(timer);
  }

  async #try(name: string, chore: Chore): Promise<number | void> {
    try {
      return await chore();
    } catch (error) {
      if (!isRetryable(error)) this.#options.logger.error(`the chore "${name}" failed`, { error });
    }
  }

  async #reap(): Promise<number | void> {
    const { link, runtime, leaseMs, events } = this.#options;
    const missingMs = (): number => leaseMs - link.contact.lengthMs(runtime.monotonic());
    if (missingMs() > 0) {
      // Not long enough in contact: live workers must have had their chance to renew.
      await link.call((store) => store.now());
      return missingMs();
    }
    let reaped;
    do {
      reaped = await link.call((store) => store.reap({ limit: REAP_STEP }));
      if (reaped.length > 0) {
        const workers = [...new Set(reaped.map(({ worker }) => worker))];
        const count = reaped.length;
        events.emit("reaped", () => ({ count, workers }));
      }
    } while (reaped.length === REAP_STEP && !this.#stopped);
  }

  async #prune(): Promise<void> {
    const { link, retention } = this.#options;
    let pruned;
    do {
      pruned = await link.call((store) => store.prune(retention.policies, PRUNE_STEP));
    } while (pruned === PRUNE_STEP && !this.#stopped);
  }

  /** Never through the link: a ledger that is away is no reason to doubt the store. */
  async #trim(): Promise<void> {
    const { ledgerWriter, retention } = this.#options;
    for (const { kind, olderThanMs } of retention.ledger) {
      const request = { kind, olderThanMs, limit: PRUNE_STEP };
      let trimmed;
      do {
        trimmed = await ledgerWriter.ask((ledger) => ledger.trim(request));
      } while (trimmed === PRUNE_STEP && !this.#stopped);
    }
  }
}
