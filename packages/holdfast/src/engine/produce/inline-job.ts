/**
 * A job that runs in its caller: what a store would keep of it, kept in memory between its attempts.
 * It is gone when its caller has the receipt; only the ledger, if there is one, remembers.
 */
import { HISTORY_LENGTH, LOG_LENGTH } from "../../core/job.ts";
import type { AttemptRecord, Failure, LogLine, NewJob, Progress, Step } from "../../core/job.ts";
import type { StoredJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { LeasedJob, Updates } from "../../core/store.ts";
import type { Runtime } from "../runtime.ts";

export class InlineJob {
  readonly job: NewJob;
  readonly #runtime: Runtime;
  readonly #createdAt: number;
  readonly #steps: Step[] = [];
  readonly #logs: LogLine[] = [];
  readonly #history: AttemptRecord[] = [];
  #attempts = 0;
  #deferrals = 0;
  #fence = 0;
  #startedAt = 0;
  #checkpoint: string | null = null;
  #progress: Progress | null = null;
  #error: Failure | null = null;

  constructor(job: NewJob, runtime: Runtime) {
    this.job = job;
    this.#runtime = runtime;
    this.#createdAt = runtime.wallClock();
  }

  /** Begins the next attempt. The fence grows as a store's does, for the handler that hands it on. */
  lease(): LeasedJob {
    const { id, queue, group, type, payload, priority, maxAttempts, tags, meta, trace } = this.job;
    this.#attempts += 1;
    this.#startedAt = this.#runtime.wallClock();
    this.#fence = Math.max(this.#fence + 1, Math.floor(this.#startedAt * 1_000));
    return {
      ...{ id, queue, group, type, payload, priority, maxAttempts, tags, meta, trace },
      handle: "",
      fence: this.#fence,
      attempt: this.#attempts,
      exhausted: false,
      crashes: 0,
      deferrals: this.#deferrals,
      checkpoint: this.#checkpoint,
      steps: [...this.#steps],
      createdAt: this.#createdAt,
      runAt: this.#createdAt,
    };
  }

  write({ progress, logs = [], checkpoint, steps = [] }: Updates): void {
    const at = this.#runtime.wallClock();
    this.#progress = progress ?? this.#progress;
    this.#checkpoint = checkpoint ?? this.#checkpoint;
    this.#logs.push(...logs.map((text) => ({ at, text })));
    this.#logs.splice(0, this.#logs.length - LOG_LENGTH);
    this.#steps.push(...steps);
  }

  /** As `core/outcome.ts` has it. */
  settle(outcome: Outcome, worker: string): void {
    switch (outcome.kind) {
      case "succeed":
        if (this.#attempts > 1) this.#record("succeeded", null, worker);
        this.#error = null;
        return;
      case "retry":
        this.#record("failed", outcome.failure, worker);
        if (outcome.spend) return;
        this.#attempts -= 1;
        this.#deferrals += 1;
        return;
      case "snooze":
      case "release":
        this.#attempts -= 1;
        return;
      case "cancel":
        this.#record("cancelled", null, worker);
        return;
      case "die":
        this.#record("failed", outcome.failure, worker);
    }
  }

  /** The whole job, as a store would show it now that it has ended. */
  ended(outcome: Extract<Outcome, { kind: "succeed" | "cancel" | "die" }>): StoredJob {
    const { job } = this;
    const now = this.#runtime.wallClock();
    const isSuccess = outcome.kind === "succeed";
    const status = isSuccess ? "succeeded" : outcome.kind === "cancel" ? "cancelled" : "dead";
    return {
      ...{ id: job.id, queue: job.queue, group: job.group, type: job.type, status },
      ...{ priority: job.priority, payload: job.payload, tags: job.tags, meta: job.meta },
      ...{ trace: job.trace, dedupeKey: job.dedupe?.key ?? null, maxAttempts: job.maxAttempts },
      keyLifetime: job.dedupe?.lifetime ?? null,
      result: isSuccess ? outcome.result : null,
      resultDropped: isSuccess && outcome.resultDropped,
      attempts: this.#attempts,
      crashes: 0,
      deferrals: this.#deferrals,
      fence: this.#fence,
      error: this.#error,
      reason: isSuccess ? null : outcome.reason,
      by: null,
      progress: this.#progress,
      cancelAsked: false,
      createdAt: this.#createdAt,
      updatedAt: now,
      runAt: this.#createdAt,
      startedAt: this.#startedAt,
      finishedAt: now,
      worker: null,
      leasedAt: null,
      leaseUntil: null,
      checkpoint: this.#checkpoint,
      steps: this.#steps,
      logs: this.#logs,
      history: this.#history,
    };
  }

  #record(outcome: AttemptRecord["outcome"], failure: Failure | null, worker: string): void {
    this.#error = failure ?? this.#error;
    this.#history.push({
      attempt: this.#attempts,
      fence: this.#fence,
      worker,
      startedAt: this.#startedAt,
      endedAt: this.#runtime.wallClock(),
      outcome,
      category: failure?.category ?? null,
      message: failure?.message ?? null,
      stack: failure?.stack ?? null,
    });
    this.#history.splice(0, this.#history.length - HISTORY_LENGTH);
  }
}
