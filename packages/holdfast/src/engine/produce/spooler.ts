/**
 * Takes enqueues while the store is away, and delivers them when it is back: once each, in order.
 *
 *   empty ──the store did not take a batch──▶ waiting ──the last one is stored──▶ empty
 *
 * While anything waits, every new enqueue goes behind it, also when the store is back already: or the
 * newest would overtake the oldest. Once the store takes what waited and little is left, new enqueues
 * hold on for a moment until it is empty: a busy producer would otherwise never leave its spool. What
 * waits survives the process; the next one delivers it.
 */
import {
  ClosedError,
  KeyBusyError,
  StoreFullError,
  StoreOpenError,
  UnsupportedError,
} from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import type { Logger } from "../logger.ts";
import type { Runtime, Timer } from "../runtime.ts";
import type { Spool, SpooledJob } from "./spool.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";

/** Delivered in a moment: so few are worth waiting for. */
const NEARLY_EMPTY = 100;

export interface SpoolerOptions {
  readonly spool: Spool;
  readonly runtime: Runtime;
  readonly logger: Logger;
  /** More than this are refused: a disk is not without end, and neither is an outage's backlog. */
  readonly maxJobs: number;
  /** To the store, whatever its queues' bounds: these jobs are promised. */
  readonly deliver: (jobs: readonly NewJob[]) => Promise<InsertResult[]>;
}

export class Spooler {
  readonly #options: SpoolerOptions;
  #delivering: Promise<void> | null = null;
  #timer: Timer | null = null;
  #failures = 0;
  /** The store took the last batch. */
  #isFlowing = false;
  #isOpen = false;
  #isClosed = false;

  constructor(options: SpoolerOptions) {
    this.#options = options;
  }

  /** Null until it was looked at. */
  get size(): number | null {
    return this.#isOpen ? this.#options.spool.size : null;
  }

  has(id: string): boolean {
    return this.#options.spool.has(id);
  }

  /** Does anything wait? Opens the spool, and begins to deliver what an earlier process left. */
  async isWaiting(): Promise<boolean> {
    const { spool } = this.#options;
    if (!this.#isOpen) await spool.open();
    this.#isOpen = true;
    if (spool.size === 0) return false;
    this.#deliverSoon();
    if (this.#isFlowing && spool.size <= NEARLY_EMPTY) await this.#delivering;
    return spool.size > 0;
  }

  /** For those who do not wait for the answer. */
  wake(): void {
    if (this.#isOpen || this.#isClosed) return;
    this.isWaiting().catch((error: unknown) => {
      this.#options.logger.error("the spool cannot be opened", { error });
    });
  }

  async add(jobs: readonly NewJob[]): Promise<void> {
    const { spool, runtime, logger, maxJobs } = this.#options;
    if (spool.size + jobs.length > maxJobs) {
      throw new StoreFullError(
        `the store is away and the spool has ${spool.size} of its ${maxJobs} jobs: enqueue again once the store is back, or raise maxJobs`,
      );
    }
    if (spool.size === 0) {
      this.#isFlowing = false;
      logger.warn("the store is away: enqueues wait in the spool");
    }
    await spool.add(jobs, runtime.wallClock());
    this.#deliverSoon();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = null;
    await this.#delivering;
    await this.#options.spool.close();
  }

  #deliverSoon(): void {
    if (this.#delivering || this.#timer || this.#isClosed) return;
    this.#delivering = this.#deliverAll().finally(() => {
      this.#delivering = null;
      if (this.#failures > 0) this.#deliverLater();
      // What came after the last look, and before this moment.
      else if (this.#options.spool.size > 0) this.#deliverSoon();
    });
  }

  #deliverLater(): void {
    const { runtime } = this.#options;
    if (this.#isClosed) return;
    this.#timer = runtime.timer(retryDelayMs(this.#failures, runtime.random()), () => {
      this.#timer = null;
      this.#deliverSoon();
    });
  }

  async #deliverAll(): Promise<void> {
    const { spool, logger } = this.#options;
    try {
      let count = 0;
      while (spool.size > 0 && !this.#isClosed) {
        const batch = await spool.oldest();
        await this.#deliver(batch);
        count += batch.length;
        this.#failures = 0;
        this.#isFlowing = true;
      }
      if (count > 0) logger.info(`the spool is empty again: ${count} jobs were delivered`);
    } catch (error) {
      // Whatever it is, nothing is left out: a job that is skipped is a job that is lost.
      this.#failures += 1;
      this.#isFlowing = false;
      if (!isRetryable(error) && !(error instanceof ClosedError)) {
        logger.error("the store does not take what is in the spool; trying again", { error });
      }
    }
  }

  async #deliver(batch: readonly SpooledJob[]): Promise<void> {
    if (batch.length === 0) return;
    const { spool, logger, runtime, deliver } = this.#options;
    const now = runtime.wallClock();
    let results: InsertResult[];
    try {
      results = await deliver(batch.map((spooled) => asOf(spooled, now)));
    } catch (error) {
      if (isAboutStore(error)) throw error;
      return this.#deliverApart(batch, error);
    }
    for (const [at, { job }] of batch.entries()) {
      const result = results[at]!;
      if (result.outcome !== "conflict") continue;
      logger.warn(
        `the idempotency key of the spooled job ${job.id} belongs to job ${result.id} with another payload: dropped`,
      );
    }
    const taken = batch.filter((_, at) => results[at]!.outcome !== "busy");
    await spool.remove(taken);
    if (taken.length < batch.length) throw new KeyBusyError("a spooled job's key is being decided");
  }

  /** One of them is the cause: it is put aside, and the others go on. */
  async #deliverApart(batch: readonly SpooledJob[], error: unknown): Promise<void> {
    const [only] = batch;
    if (only && batch.length === 1) {
      const { spool, logger } = this.#options;
      const why = error instanceof Error ? error.message : String(error);
      await spool.putAside(only, why);
      logger.error(`the store refuses the spooled job ${only.job.id}; it is put aside`, { error });
      return;
    }
    for (const one of batch) await this.#deliver([one]);
  }
}

/** Whatever is wrong, no job is to blame for it. */
function isAboutStore(error: unknown): boolean {
  const isOurs = [ClosedError, StoreOpenError, UnsupportedError];
  return isRetryable(error) || isOurs.some((Class) => error instanceof Class);
}

/** Delays and lifetimes of keys count from the enqueue, not from the delivery. */
function asOf({ job, at }: SpooledJob, now: number): NewJob {
  const waitedMs = Math.max(0, Math.round(now - at));
  const { delayMs, dedupe } = job;
  const lifetime = dedupe?.lifetime;
  return {
    ...job,
    delayMs: Math.max(0, delayMs - waitedMs),
    ...(dedupe &&
      typeof lifetime === "object" && {
        dedupe: { ...dedupe, lifetime: { ttlMs: Math.max(1, lifetime.ttlMs - waitedMs) } },
      }),
  };
}
