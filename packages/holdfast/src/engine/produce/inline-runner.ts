/**
 * Runs jobs in their callers, for a store that is surely away or was never there: the same handler,
 * timeout, retries, backoff, events and ledger entries as in a worker. What no store can promise is
 * not promised: no lease, no crash recovery, no idempotency key, no time in the future.
 *
 *   attempt ──succeed, cancel, die──▶ the caller has its receipt
 *      ▲  └──retry, snooze──▶ wait ──┐      (closed meanwhile: the caller gets a ClosedError)
 *      └─────────────────────────────┘
 */
import {
  ClosedError,
  InlineRefusedError,
  UnsupportedError,
  WorkerStoppedError,
} from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import { Attempt } from "../run/attempt.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import type { Composer } from "./compose-job.ts";
import { InlineJob } from "./inline-job.ts";
import { finishedJob, type FinishedJob } from "../operate/job-view.ts";
import type { Logger } from "../logger.ts";
import type { Registry } from "../registry.ts";
import { ABORT_PATIENCE_MS } from "../run/run-handler.ts";
import type { Pipeline } from "../run/pipeline.ts";
import { InlineHost } from "./inline-host.ts";
import { longTimer, waitAtMost, type Runtime } from "../runtime.ts";

export interface InlineRunnerOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly pipeline: Pipeline;
  readonly composer: Composer;
  readonly ledgerWriter: LedgerWriter;
  /** False: there never was one, and waiting for it is no advice. */
  readonly hasStore: boolean;
}

export class InlineRunner {
  readonly #options: InlineRunnerOptions;
  readonly #worker: string;
  readonly #jobs = new Set<Promise<unknown>>();
  readonly #attempts = new Set<Attempt>();
  /** Each ends one wait between two attempts. */
  readonly #wakers = new Set<() => void>();
  #isOver = false;

  constructor(options: InlineRunnerOptions) {
    this.#options = options;
    this.#worker = `inline:${options.runtime.workerId()}`;
  }

  /** Throws if the job cannot run here and now. `cause` is why the store did not take it. */
  run(
    job: NewJob,
    how: { readonly cause: unknown; readonly enqueue: (job: NewJob) => Promise<unknown> },
  ): Promise<FinishedJob> {
    const running = this.#run(job, how);
    this.#jobs.add(running);
    const over = () => void this.#jobs.delete(running);
    running.then(over, over);
    return running;
  }

  /** Waits `graceMs` for what runs, then aborts it. */
  async close(graceMs: number): Promise<void> {
    const { runtime } = this.#options;
    await waitAtMost(runtime, this.#idle(), graceMs);
    this.#isOver = true;
    for (const wake of this.#wakers) wake();
    for (const attempt of this.#attempts) {
      attempt.abort(new WorkerStoppedError("this Holdfast is closed and its grace is over"));
    }
    await waitAtMost(runtime, this.#idle(), ABORT_PATIENCE_MS + 100);
  }

  async #idle(): Promise<void> {
    while (this.#jobs.size > 0) await Promise.allSettled(this.#jobs);
  }

  async #run(
    job: NewJob,
    { cause, enqueue }: { readonly cause: unknown; enqueue: (job: NewJob) => Promise<unknown> },
  ): Promise<FinishedJob> {
    this.#demand(job, cause);
    const inline = new InlineJob(job, this.#options.runtime);
    for (;;) {
      if (this.#isOver) throw closedMeanwhile(job);
      const { outcome, spawned } = await this.#attempt(inline, cause);
      switch (outcome.kind) {
        case "succeed":
        case "cancel":
        case "die":
          if (outcome.kind === "succeed") await this.#follow(job, spawned, enqueue);
          return finishedJob(inline.ended(outcome)) as FinishedJob;
        case "retry":
        case "snooze":
          await this.#wait(outcome.afterMs);
          break;
        case "release":
          throw closedMeanwhile(job);
      }
    }
  }

  /** A clear no, if it cannot run here and now. */
  #demand(job: NewJob, cause: unknown): void {
    const { registry, runtime, hasStore } = this.#options;
    const definition = registry.get(job.type);
    const isLater = job.delayMs > 0 || (job.runAt !== null && job.runAt > runtime.wallClock());
    if (definition?.handler && !isLater) return;
    const why = isLater
      ? "a job that is due later cannot run in its caller"
      : `type "${job.type}" has no handler in this process`;
    if (!hasStore) throw new UnsupportedError(`there is no store, and ${why}: give one`);
    throw new InlineRefusedError(`the store is away, and ${why}: enqueue it again later`, {
      cause,
    });
  }

  /** Resolves once its outcome is known: a handler that goes on after that is not waited for. */
  #attempt(
    inline: InlineJob,
    cause: unknown,
  ): Promise<{ readonly outcome: Outcome; readonly spawned: readonly NewJob[] }> {
    const { pipeline, composer, ledgerWriter, runtime, logger } = this.#options;
    const attempt = new Attempt(inline.lease(), {
      ...{ worker: this.#worker, leaseEndsAt: Infinity, acceptedAt: runtime.monotonic() },
    });
    this.#attempts.add(attempt);
    return new Promise((resolve, reject) => {
      const host = new InlineHost({
        job: inline,
        ledgerWriter,
        compose: async (target, payload, options) => {
          const { job } = await composer.compose(target, payload, options);
          // Said now, while the handler can still do something about it.
          this.#demand(job, cause);
          return job;
        },
        onSettled: (outcome) => {
          this.#attempts.delete(attempt);
          resolve({ outcome, spawned: attempt.spawned });
        },
      });
      pipeline.run(attempt, host).catch((error: unknown) => {
        logger.error(`job ${inline.job.id} ended in an error of the engine itself`, { error });
        reject(error);
      });
    });
  }

  /** The work is done, so trouble with what it spawned is told, and does not undo it. */
  async #follow(
    parent: NewJob,
    spawned: readonly NewJob[],
    enqueue: (job: NewJob) => Promise<unknown>,
  ): Promise<void> {
    for (const child of spawned) {
      try {
        await enqueue(child);
      } catch (error) {
        const { logger } = this.#options;
        logger.error(`job ${parent.id} ran in its caller, and its child ${child.id} is lost`, {
          error,
        });
      }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        timer.cancel();
        this.#wakers.delete(wake);
        resolve();
      };
      const timer = longTimer(this.#options.runtime, ms, wake);
      this.#wakers.add(wake);
      if (this.#isOver) wake();
    });
  }
}

function closedMeanwhile(job: NewJob): ClosedError {
  return new ClosedError(
    `this Holdfast was closed while job ${job.id} ran in its caller: it has not ended, and it is stored nowhere`,
  );
}
