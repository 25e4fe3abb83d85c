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
  LeaseLostError,
  UnsupportedError,
  WorkerStoppedError,
} from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import { decodeJson } from "../../core/json-text.ts";
import type { Outcome } from "../../core/outcome.ts";
import { validateWith } from "../../core/standard-schema.ts";
import { Attempt } from "../run/attempt.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import type { Composer } from "./compose-job.ts";
import { decideFailure, succeed } from "../settle/decide.ts";
import type { Events } from "../events.ts";
import { InlineJob } from "./inline-job.ts";
import { finishedJob, type FinishedJob } from "../operate/job-view.ts";
import type { Logger } from "../logger.ts";
import { outcomeEvents } from "../settle/outcome-events.ts";
import type { Definition, Registry } from "../registry.ts";
import { ABORT_PATIENCE_MS, runHandler, type Ending } from "../run/run-handler.ts";
import { RunningJob, type RunningJobHost } from "../run/running-job.ts";
import { longTimer, waitAtMost, type Runtime } from "../runtime.ts";

export interface InlineRunnerOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly events: Events;
  readonly registry: Registry;
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
    const definition = this.#demand(job, cause);
    const inline = new InlineJob(job, this.#options.runtime);
    for (;;) {
      if (this.#isOver) throw closedMeanwhile(job);
      const { outcome, spawned } = await this.#attempt(inline, definition, cause);
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

  /** Its handler, or a clear no. */
  #demand(job: NewJob, cause: unknown): Definition {
    const { registry, runtime, hasStore } = this.#options;
    const definition = registry.get(job.type);
    const isLater = job.delayMs > 0 || (job.runAt !== null && job.runAt > runtime.wallClock());
    if (definition?.handler && !isLater) return definition;
    const why = isLater
      ? "a job that is due later cannot run in its caller"
      : `type "${job.type}" has no handler in this process`;
    if (!hasStore) throw new UnsupportedError(`there is no store, and ${why}: give one`);
    throw new InlineRefusedError(`the store is away, and ${why}: enqueue it again later`, {
      cause,
    });
  }

  async #attempt(
    inline: InlineJob,
    definition: Definition,
    cause: unknown,
  ): Promise<{ readonly outcome: Outcome; readonly spawned: readonly NewJob[] }> {
    const { events, ledgerWriter, runtime } = this.#options;
    const attempt = new Attempt(inline.lease(), { worker: this.#worker, leaseEndsAt: Infinity });
    this.#attempts.add(attempt);
    attempt.phase = "running";
    const about = aboutJob(attempt);
    events.emit("started", () => about);
    const startedAt = runtime.monotonic();
    const outcome = await this.#outcome(attempt, definition, this.#hostOf(inline, cause));
    attempt.phase = "decided";
    inline.write(attempt.takeUpdates() ?? {});
    inline.settle(outcome, this.#worker);
    ledgerWriter.bring(attempt, outcome);
    attempt.end();
    this.#attempts.delete(attempt);
    outcomeEvents(events, about, outcome, { ranMs: runtime.monotonic() - startedAt });
    return { outcome, spawned: attempt.spawned };
  }

  async #outcome(
    attempt: Attempt,
    { contract, handler }: Definition,
    host: RunningJobHost,
  ): Promise<Outcome> {
    const { runtime } = this.#options;
    const { job } = attempt;
    const failed = (error: unknown) =>
      decideFailure(error, {
        ...{ job, contract, abortReason: attempt.abortReason },
        nowMs: runtime.wallClock(),
        random: runtime.random(),
      });
    try {
      const given = decodeJson(job.payload);
      const payload = contract.payload
        ? await validateWith(contract.payload, given, `the payload of ${job.type}`)
        : given;
      const running = new RunningJob(attempt, payload, host);
      const abandoned = Promise.withResolvers<Ending>();
      const ending = await Promise.race([
        runHandler(attempt, running, {
          handler: handler!,
          runtime,
          timeoutMs: contract.timeoutMs,
          onAbandoned: (reason) => {
            this.#reportAbandoned(attempt, reason.message);
            abandoned.resolve({ kind: "threw", error: null });
          },
        }),
        abandoned.promise,
      ]);
      if (ending.kind === "threw") return failed(ending.error);
      return running.intent ?? succeed(ending.value);
    } catch (error) {
      return failed(error);
    }
  }

  #reportAbandoned(attempt: Attempt, reason: string): void {
    const { logger, events } = this.#options;
    logger.warn(`a handler of ${attempt.job.type} goes on after its signal aborted`, { reason });
    events.emit("abandoned", () => ({ ...aboutJob(attempt), reason }));
  }

  #hostOf(inline: InlineJob, cause: unknown): RunningJobHost {
    const demand = (attempt: Attempt) => {
      if (attempt.phase === "running" && !attempt.abortReason) return;
      throw attempt.abortReason ?? new LeaseLostError(`the attempt at ${inline.job.id} is over`);
    };
    return {
      keeper: {
        updatesWait() {},
        demand,
        async write(attempt, updates) {
          demand(attempt);
          inline.write(updates);
        },
      },
      compose: async (target, payload, options) => {
        const { job } = await this.#options.composer.compose(target, payload, options);
        // Said now, while the handler can still do something about it.
        this.#demand(job, cause);
        return job;
      },
      async settleWithin() {
        throw new UnsupportedError(
          "this job runs in its caller, without a store: there is nothing to settle within",
        );
      },
    };
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
    `this Holdfast was closed while job ${job.id} ran in its caller: it has not ended, and nobody has it`,
  );
}

function aboutJob({ job, worker }: Attempt) {
  const { id, type, queue, group, attempt } = job;
  return { id, type, queue, group: group || null, attempt, worker };
}
