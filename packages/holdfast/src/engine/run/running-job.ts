/**
 * The `job` a handler gets: what it is, what it may say while it runs, and how it may end other than
 * by returning or throwing. The class is thin; the attempt and the lease keeper do the work.
 */
import { InvalidOptionError, SpawnLimitError } from "../../core/errors.ts";
import { jobLength } from "../../core/job-length.ts";
import { checkTarget, type EnqueueOptions, type JobContract } from "../../core/contract.ts";
import { LOG_LINE_BYTES, type NewJob } from "../../core/job.ts";
import type { Jsonified } from "../../core/jsonified.ts";
import { ownMeta } from "../../core/expiry.ts";
import { decodeJson, encodeJson } from "../../core/json-text.ts";
import { withParent } from "../../core/lineage.ts";
import { checkOptions } from "../../core/option-checks.ts";
import type { Outcome } from "../../core/outcome.ts";
import { cleanText, cutToBytes, show } from "../../core/text.ts";
import type { AnyContract, InputOf } from "../typed-jobs.ts";
import { derivedUuid } from "../derived-uuid.ts";
import type { Attempt } from "./attempt.ts";
import { AttemptFacts } from "./attempt-facts.ts";
import { refuseInOpenTransaction } from "./current-attempt.ts";
import type { LeaseKeeper } from "../lease/lease-keeper.ts";
import type { Logger } from "../logger.ts";
import type { Runtime } from "../runtime.ts";
import { OpenCalls } from "./open-calls.ts";
import { Steps } from "./steps.ts";

export const MAX_RESULT_BYTES = 256 * 1024;
const MAX_SPAWNED = 1_000;
const MAX_SPAWNED_BYTES = 1024 * 1024;
const LONGEST_SNOOZE_MS = 10 * 365 * 86_400_000;

/** Returned by `job.snooze()` and `job.cancel()`; the intent counts even if it is not returned. */
export interface Intent {
  readonly intent: "snooze" | "cancel";
}

export type SpawnTarget = string | JobContract;

/** What a running job needs from its worker, or from the caller it runs in. */
export interface RunningJobHost {
  readonly keeper: Pick<LeaseKeeper, "updatesWait" | "demand" | "write">;
  /** Validates and completes a job to be spawned. */
  compose(
    target: SpawnTarget,
    payload: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<NewJob> | NewJob;
  /** Settles an attempt inside a caller's transaction. */
  settleWithin(attempt: Attempt, tx: unknown, result: unknown): Promise<void>;
}

export interface RunningJobOptions {
  readonly host: RunningJobHost;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

export class RunningJob<Payload = unknown, Result = unknown> extends AttemptFacts {
  readonly payload: Payload;
  readonly #attempt: Attempt;
  readonly #host: RunningJobHost;
  readonly #options: RunningJobOptions;
  /** Made with the first call that takes time. */
  #calls: OpenCalls | null = null;
  #hasEnded = false;
  /** Made with the first step: most handlers have none. */
  #steps: Steps | null = null;
  #checkpoint: string | null;
  #intent: Extract<Outcome, { kind: "snooze" | "cancel" }> | null = null;

  constructor(attempt: Attempt, payload: Payload, options: RunningJobOptions) {
    super(attempt);
    this.#attempt = attempt;
    this.payload = payload;
    this.#host = options.host;
    this.#options = options;
    this.#checkpoint = attempt.job.checkpoint;
  }

  get meta(): Record<string, unknown> | null {
    return ownMeta(this.#attempt.job.meta);
  }
  /** What an earlier attempt saved last. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the handler knows what it saved
  get checkpoint(): any {
    return this.#checkpoint === null ? undefined : decodeJson(this.#checkpoint);
  }

  /**
   * A key for another system's idempotency, a UUID: the same for every attempt of this job, another for every
   * name. Whatever is done under it is done once, however often this job is tried.
   */
  externalKey(name: string): string {
    if (typeof name !== "string" || name === "" || name.length > 200) {
      throw new InvalidOptionError(
        'externalKey takes a name of what is done: job.externalKey("contact")',
      );
    }
    return derivedUuid("external", this.id, name);
  }

  /** Last one wins; written about once a second. Resolves at once. */
  progress(percent: number, message?: string): Promise<void> {
    if (!Number.isFinite(percent)) {
      const error = new InvalidOptionError("progress takes a percentage from 0 to 100");
      return this.#track("job.progress()", this.progress, Promise.reject(error));
    }
    this.#attempt.setProgress({
      percent: Math.min(100, Math.max(0, percent)),
      message: message === undefined ? null : cleanText(message, 1_000),
    });
    this.#host.keeper.updatesWait(this.#attempt);
    return Promise.resolve();
  }

  /** The last 200 lines of at most 1 KiB are kept. */
  log(line: string): void {
    this.#attempt.addLog(cutToBytes(cleanText(line, LOG_LINE_BYTES), LOG_LINE_BYTES));
    this.#host.keeper.updatesWait(this.#attempt);
  }

  /** Stored together with this job's success, or not at all. Resolves to the new job's id. */
  spawn<Contract extends AnyContract>(
    contract: Contract,
    payload: InputOf<Contract>,
    options?: EnqueueOptions,
  ): Promise<string>;
  spawn(type: string, payload: unknown, options?: EnqueueOptions): Promise<string>;
  spawn(target: SpawnTarget, payload: unknown, options?: EnqueueOptions): Promise<string> {
    const spawned = this.#spawn(target, payload, options);
    return this.#track("job.spawn()", this.spawn, spawned);
  }

  async #spawn(target: SpawnTarget, payload: unknown, options?: EnqueueOptions): Promise<string> {
    checkTarget("job.spawn", target);
    const composed = await this.#host.compose(target, payload, options);
    const job = withParent(composed, this.#attempt.job.id);
    // A handler that goes on after its job was settled without it would believe in a child never stored.
    this.#host.keeper.demand(this.#attempt);
    const bytes = this.#attempt.spawnedBytes + jobLength(job);
    if (this.#attempt.spawned.length >= MAX_SPAWNED || bytes > MAX_SPAWNED_BYTES) {
      throw new SpawnLimitError(
        "one job may spawn at most 1,000 jobs or 1 MiB: spawn one that spawns the rest",
      );
    }
    this.#attempt.spawned.push(job);
    this.#attempt.spawnedBytes = bytes;
    return job.id;
  }

  /**
   * Runs `body` once in the life of the job: its result is stored before this resolves, and a later
   * attempt gets the stored one. What comes back is what JSON makes of it, the first time too.
   */
  step<Value>(name: string, body: () => Promise<Value> | Value): Promise<Jsonified<Value>> {
    this.#steps ??= new Steps(this.#attempt, this.#host.keeper);
    const stored = this.#steps.run(name, body);
    return this.#track(`job.step(${show(name)})`, this.step, stored);
  }

  /** Where the next attempt starts; `job.checkpoint` there. Resolves once it is stored. */
  save(checkpoint: unknown): Promise<void> {
    return this.#track("job.save()", this.save, this.#save(checkpoint));
  }

  async #save(checkpoint: unknown): Promise<void> {
    refuseInOpenTransaction();
    const json = encodeJson(checkpoint, { what: "the checkpoint", maxBytes: MAX_RESULT_BYTES });
    await this.#host.keeper.write(this.#attempt, { checkpoint: json });
    this.#checkpoint = json;
  }

  /** Later, without spending the attempt. `return job.snooze(60_000)`. */
  snooze(ms: number): Intent {
    if (!Number.isFinite(ms) || ms < 0 || ms > LONGEST_SNOOZE_MS) {
      throw new InvalidOptionError("snooze takes the milliseconds to wait, from 0 to ten years");
    }
    this.#intent = { kind: "snooze", afterMs: Math.floor(ms) };
    return { intent: "snooze" };
  }

  /** No longer needed. `return job.cancel("superseded")`. */
  cancel(reason?: string): Intent {
    this.#intent = { kind: "cancel", reason: reason === undefined ? null : cleanText(reason, 500) };
    return { intent: "cancel" };
  }

  /** This job's success commits with the caller's own transaction, or not at all. */
  settleWithin(tx: unknown, outcome: { readonly result?: Result } = {}): Promise<void> {
    const settled = this.#settleWithin(tx, outcome);
    return this.#track("job.settleWithin()", this.settleWithin, settled);
  }

  async #settleWithin(tx: unknown, outcome: { readonly result?: Result }): Promise<void> {
    checkOptions("settleWithin", outcome, ["result"]);
    await this.#host.settleWithin(this.#attempt, tx, outcome.result);
  }

  #track<Out>(what: string, method: object, asked: Promise<Out>): Promise<Out> {
    if (this.#calls === null) {
      this.#calls = new OpenCalls({ ...this.#options, type: this.type });
      if (this.#hasEnded) this.#calls.close();
    }
    return this.#calls.track(what, method, asked);
  }

  /** @internal The handler has ended. Null: it waits for nothing any more. */
  end(): OpenCalls | null {
    this.#hasEnded = true;
    if (this.#calls?.isQuiet === false) return this.#calls;
    this.#calls?.close();
    return null;
  }

  /** @internal */
  get intent(): Extract<Outcome, { kind: "snooze" | "cancel" }> | null {
    return this.#intent;
  }
}
