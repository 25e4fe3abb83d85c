/**
 * Carries outcomes to the store in batches. What was decided is sent until the store answers: the
 * fence makes a late or repeated settle harmless, and giving up would run finished work again. Only a
 * process that ends gives up, and says so once for all that went together.
 *
 * A job that an open transaction keeps from the store (`busy`) is sent again by itself, later and later: the
 * others of its batch, and all that come after them, must not wait for that transaction.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import { jobLength } from "../../core/job-length.ts";
import { BATCH_BYTES } from "../../core/job.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import type { Done } from "../produce/batcher.ts";
import { Batchers } from "../produce/batchers.ts";
import type { Logger } from "../logger.ts";
import { sleep, type Runtime } from "../runtime.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";
import type { WatchedStore } from "../watched-store.ts";

/** Of jobs whose outcomes were lost, so many are named. */
const NAMED = 10;
/** How often is looked whether what waits for a transaction has gone, by those who wait for all. */
const IDLE_LOOK_MS = 50;

export class Settler {
  readonly #watched: WatchedStore;
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  readonly #batchers: Batchers<Settlement, SettleResult>;
  readonly #onAnswered: () => void;
  readonly #onOutbox: () => void;
  readonly #busy = new Set<Settlement>();
  #givenUp = false;

  constructor(options: {
    readonly watched: WatchedStore;
    readonly runtime: Runtime;
    readonly logger: Logger;
    /** Some outcomes have reached the store: fewer wait. */
    readonly onAnswered: () => void;
    /** Some of them left something to relay, or may have. */
    readonly onOutbox: () => void;
  }) {
    this.#onAnswered = options.onAnswered;
    this.#onOutbox = options.onOutbox;
    this.#watched = options.watched;
    this.#runtime = options.runtime;
    this.#logger = options.logger;
    this.#batchers = new Batchers({
      hasSeveralServers: () => options.watched.hasSeveralServers,
      queueOf: ({ queue }) => queue,
      run: (settlements) => this.#settle(settlements),
      defer: (callback) => options.runtime.defer(callback),
      maxItems: options.watched.batchItems,
      maxBytes: BATCH_BYTES,
      bytesOf: settlementBytes,
      isolate: (error) => !isRetryable(error),
    });
  }

  push(settlement: Settlement, done: Done<SettleResult>): void {
    this.#push(settlement, done, 0);
  }

  #push(settlement: Settlement, done: Done<SettleResult>, refusals: number): void {
    this.#batchers.push(settlement, (error, result) => {
      if (error !== null || result !== "busy") done(error, result);
      else void this.#pushLater(settlement, done, refusals + 1);
    });
  }

  async #pushLater(
    settlement: Settlement,
    done: Done<SettleResult>,
    refusals: number,
  ): Promise<void> {
    this.#busy.add(settlement);
    await sleep(this.#runtime, retryDelayMs(refusals, this.#runtime.random()));
    this.#busy.delete(settlement);
    if (!this.#givenUp) return this.#push(settlement, done, refusals);
    const message = "an open transaction has this job: try again once it has ended";
    const error = new StoreUnavailableError(message, { mayHaveHappened: false });
    this.#sayLost([settlement], error);
    done(error, undefined);
  }

  /** Outcomes the store does not have yet. */
  get size(): number {
    return this.#batchers.size + this.#busy.size;
  }

  get isIdle(): boolean {
    return this.#batchers.isIdle && this.#busy.size === 0;
  }

  async idle(): Promise<void> {
    while (!this.isIdle) {
      await this.#batchers.idle();
      if (this.#busy.size > 0) await sleep(this.#runtime, IDLE_LOOK_MS);
    }
  }

  /** The process wants to end and the store does not answer: the leases will run out instead. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async #settle(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    for (let failures = 0; ;) {
      try {
        const results = await this.#watched.store.settle(settlements);
        this.#onAnswered();
        if (settlements.some(({ spawn, outbox }) => spawn ?? outbox)) this.#onOutbox();
        return results;
      } catch (error) {
        if (!isRetryable(error)) throw error;
        if (this.#givenUp) {
          this.#sayLost(settlements, error);
          throw error;
        }
        failures += 1;
        const ms = retryDelayMs(failures, this.#runtime.random());
        await sleep(this.#runtime, ms);
      }
    }
  }

  #sayLost(settlements: readonly Settlement[], error: unknown): void {
    const jobs = settlements.slice(0, NAMED).map(({ id }) => id);
    this.#logger.error(
      `the outcomes of ${settlements.length} jobs did not reach the store; their leases will run out`,
      { error, jobs },
    );
  }
}

function settlementBytes({ outcome, spawn, entries, outbox }: Settlement): number {
  let length = outcome.kind === "succeed" ? (outcome.result?.length ?? 0) : 0;
  for (const job of spawn ?? []) length += jobLength(job);
  for (const entry of entries ?? outbox ?? []) length += entry.body.length;
  // UTF-16 units to UTF-8 bytes, at worst; failures and updates are small and bounded.
  return length * 3;
}
