/**
 * One attempt from its slot to its settle, the same for a worker's jobs and for those that run in their
 * callers:
 *
 *   refuse ─▶ decode ─▶ validate ─▶ before ─▶ run (around) ─▶ decide ─▶ decided ─▶ settle ─▶ tell
 *
 * What differs between the two (who keeps the lease, where an outcome is stored) is the attempt's host.
 */
import { ResultValidationError, type HoldfastError } from "../../core/errors.ts";
import { decodeJson } from "../../core/json-text.ts";
import type { Outcome } from "../../core/outcome.ts";
import { validateWith, type StandardSchema } from "../../core/standard-schema.ts";
import type { Events } from "../events.ts";
import type { Ended, Timings } from "../extension.ts";
import type { Decided, Extensions, Hooks } from "../extensions.ts";
import type { Logger } from "../logger.ts";
import type { Definition, Registry } from "../registry.ts";
import { sleep, type Runtime } from "../runtime.ts";
import { decideBeforeRunning, decideFailure, succeed } from "../settle/decide.ts";
import { outcomeEvents } from "../settle/outcome-events.ts";
import type { Attempt } from "./attempt.ts";
import { ViewedAttempt } from "./attempt-view.ts";
import { aboutJob } from "./about-job.ts";
import { runHandler, type Ending, type RunHandlerOptions } from "./run-handler.ts";
import { RunningJob, type RunningJobHost } from "./running-job.ts";
import type { UnknownTypes } from "./unknown-types.ts";

/** How often a transaction is looked at that outlives its abandoned handler. */
const OPEN_TRANSACTION_MS = 500;

export interface AttemptHost extends RunningJobHost {
  /** May how it ends still be told? */
  check(attempt: Attempt): boolean;
  /** Resolves once a job that crashed before may start; rejects if it is lost. */
  begin(attempt: Attempt): Promise<void>;
  /** Stores what was decided, and says once what came of it. */
  settle(attempt: Attempt, decided: Decided, done: (how: Ended) => void): void;
  /** After a handler that settled in a caller's transaction: did that commit? */
  readBack(attempt: Attempt): Promise<"settled" | "rolled back" | "lost">;
  /** It is over, and was not settled by us. */
  dropped(attempt: Attempt): void;
}

export interface PipelineOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly events: Events;
  readonly registry: Registry;
  readonly extensions: Extensions;
  readonly unknownTypes: UnknownTypes;
}

/** One attempt on its way: what its steps hand to each other. */
interface Run {
  readonly attempt: Attempt;
  readonly host: AttemptHost;
  readonly definition: Definition | null;
  readonly hooks: Hooks;
  /** Null where no extension looks. */
  readonly view: ViewedAttempt | null;
  /** `before` was asked, so `ended` will be told. */
  isBegun: boolean;
}

/** What goes with an outcome besides the outcome. */
export interface Told {
  readonly why?: string;
  readonly ranMs?: number;
  /** It never ran, or the store has just said that it is held: its fence will tell. */
  readonly evenIfLate?: boolean;
}

export class Pipeline {
  readonly #options: PipelineOptions;
  /** Outcomes that extensions are asked about; they are not with their hosts yet. */
  readonly #deciding = new Set<Promise<void>>();

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Resolves when the slot is free again; the settle may still be on its way. */
  async run(attempt: Attempt, host: AttemptHost): Promise<void> {
    // The buffer may have outlived its lease while something blocked the loop.
    if (!host.check(attempt)) {
      return this.release(attempt, host, { why: "its lease ran out before it started" });
    }
    const { job } = attempt;
    const { runtime, logger } = this.#options;
    const run = this.#begin(attempt, host);
    const { definition } = run;
    if (!definition?.handler) {
      const afterMs = this.#options.unknownTypes.met(job.type, job.queue);
      return this.#conclude(run, { kind: "release", afterMs }, { why: "unknown type" });
    }
    const refused = decideBeforeRunning(job, definition.contract);
    if (refused) return this.#conclude(run, refused);
    attempt.start({ goesOnThroughOutages: definition.contract.onOutage === "continue" });
    let payload: unknown;
    try {
      if (job.crashes > 0) {
        await host.begin(attempt);
        // The answer may have been on its way, or the process frozen, until after the lease's end. Going on
        // through an outage is for those that have started.
        if (attempt.isInDoubt || !host.check(attempt)) {
          return this.release(attempt, host, { why: "its lease ran out before it started" });
        }
      }
      payload = decodeJson(job.payload);
      const schema = definition.contract.payload;
      if (schema) payload = validateWith(schema, payload, `the payload of ${job.type}`);
      if (payload instanceof Promise) {
        const checked = payload;
        const ending = await this.#patiently(run, definition, { handler: () => checked });
        // Settled without it meanwhile.
        if (attempt.phase !== "running") return;
        if (ending.kind === "threw") throw ending.error;
        if (attempt.abortReason && !attempt.isLost) throw attempt.abortReason;
        payload = ending.value;
      }
    } catch (error) {
      return this.#conclude(run, this.#failed(run, error));
    }
    run.isBegun = true;
    run.view?.takePayload(payload);
    const isAsked = run.hooks.before.length > 0;
    const outcome = isAsked ? await this.#options.extensions.before(run.hooks, run.view!) : null;
    if (outcome) return this.#conclude(run, outcome);
    // What was asked may have taken longer than the lease lasts while no renewal came through.
    if (attempt.isInDoubt || !host.check(attempt)) {
      const why = "its lease ran out before it started";
      return this.#conclude(run, { kind: "release", afterMs: 0 }, { why, evenIfLate: true });
    }
    await this.#handle(
      run,
      definition,
      new RunningJob(attempt, payload, { host, runtime, logger }),
    );
  }

  get isDeciding(): boolean {
    return this.#deciding.size > 0;
  }

  /** Resolves when the outcomes that are being decided now are with their hosts. */
  async decided(): Promise<void> {
    await Promise.all(this.#deciding);
  }

  /** Gives back what was leased and never started: no attempt is spent. */
  release(
    attempt: Attempt,
    host: AttemptHost,
    { why, afterMs = 0 }: { readonly why: string; readonly afterMs?: number },
  ): void {
    const outcome = { kind: "release", afterMs } as const;
    this.#conclude(this.#begin(attempt, host), outcome, { why, evenIfLate: true });
  }

  #begin(attempt: Attempt, host: AttemptHost): Run {
    const { registry, extensions } = this.#options;
    const definition = registry.get(attempt.job.type) ?? null;
    const contract = definition?.contract ?? null;
    const hooks = extensions.of(contract);
    const isViewed =
      hooks.before.length + hooks.around.length + hooks.decided.length + hooks.ended.length > 0;
    const view = isViewed ? new ViewedAttempt(attempt, contract) : null;
    return { attempt, host, definition, hooks, view, isBegun: false };
  }

  async #handle(run: Run, definition: Definition, running: RunningJob): Promise<void> {
    const { runtime, events, extensions } = this.#options;
    const { attempt, host, hooks, view } = run;
    events.emit("started", () => ({ ...aboutJob(attempt), waitedMs: waitedMs(attempt) }));
    attempt.startedAt = runtime.monotonic();
    const handler = definition.handler!;
    const body =
      hooks.around.length === 0
        ? () => handler(running)
        : extensions.around(hooks, view!, async () => handler(running));
    const { result } = definition.contract;
    const ending = await this.#patiently(run, definition, {
      handler: result ? () => checkedResult(attempt, running, body, result) : body,
      openCalls: () => running.end(),
    });
    // Settled without it meanwhile: what it says now is not heard.
    if (attempt.phase !== "running") return;
    const ranMs = runtime.monotonic() - attempt.startedAt;
    // The keeper did not renew it while its transaction was open; but the store has just said that it is ours.
    const evenIfLate = attempt.settledWithin !== null;
    if (attempt.settledWithin) {
      const became = await host.readBack(attempt);
      if (became !== "rolled back") return this.#settledElsewhere(run, became, ranMs);
    }
    this.#conclude(run, this.#decide(run, running, ending), { ranMs, evenIfLate });
  }

  /** A user's code, which may never end: the schema of a payload waits for whatever it likes. */
  #patiently(
    run: Run,
    { contract: { timeoutMs } }: Definition,
    code: Pick<RunHandlerOptions, "handler" | "openCalls">,
  ): Promise<Ending> {
    const { runtime } = this.#options;
    const onAbandoned = (reason: HoldfastError): void => this.#abandon(run, reason);
    return runHandler(run.attempt, { ...code, runtime, timeoutMs, onAbandoned });
  }

  /** Its signal aborted and it went on: the job is settled without it. */
  #abandon(run: Run, { message }: HoldfastError): void {
    const { logger, events, runtime } = this.#options;
    const { attempt } = run;
    logger.warn(`a handler of ${attempt.job.type} goes on after its signal aborted`, {
      reason: message,
    });
    events.emit("abandoned", () => ({ ...aboutJob(attempt), reason: message }));
    const ranMs = runtime.monotonic() - (attempt.startedAt ?? runtime.monotonic());
    if (attempt.settledWithin) void this.#abandonWithin(run, ranMs);
    else this.#conclude(run, this.#failed(run, null), { ranMs });
  }

  /** Settled in a transaction of its own: only the database can tell, once that is over. */
  async #abandonWithin(run: Run, ranMs: number): Promise<void> {
    const { runtime } = this.#options;
    const { attempt, host } = run;
    try {
      while (attempt.isTransactionOpen) await sleep(runtime, OPEN_TRANSACTION_MS);
      const became = attempt.settledWithin ? await host.readBack(attempt) : "rolled back";
      if (became !== "rolled back") return this.#settledElsewhere(run, became, ranMs);
      this.#conclude(run, this.#failed(run, null), { ranMs, evenIfLate: true });
    } catch (error) {
      this.#broke(attempt, error);
    }
  }

  #broke({ job }: Attempt, error: unknown): void {
    const { logger } = this.#options;
    logger.error(`job ${job.id} ended in an error of the engine itself`, { error });
  }

  #decide(run: Run, running: RunningJob, ending: Ending): Outcome {
    if (ending.kind === "threw") return this.#failed(run, ending.error);
    if (run.attempt.wasRolledBack) {
      const message = "the transaction in which the job was settled did not commit";
      return this.#failed(run, new Error(message));
    }
    const drop = (error: unknown) => reportDropped(this.#options.logger, run.attempt, error);
    return running.intent ?? succeed(ending.value, drop);
  }

  #failed({ attempt, definition }: Run, error: unknown): Outcome {
    const { runtime } = this.#options;
    return decideFailure(error, {
      job: attempt.job,
      contract: definition!.contract,
      abortReason: attempt.abortReason,
      nowMs: runtime.wallClock(),
      random: runtime.random(),
    });
  }

  #conclude(run: Run, outcome: Outcome, told: Told = {}): void {
    const { attempt, host, hooks, view } = run;
    if (!told.evenIfLate && !host.check(attempt)) return this.#lost(run, told);
    if (!attempt.decide()) return;
    const decided =
      hooks.decided.length === 0
        ? { outcome, entries: [] }
        : this.#options.extensions.decided(hooks, view!, outcome);
    if (!(decided instanceof Promise)) return this.#settle(run, decided, told);
    const deciding = decided
      .then((all) => this.#settle(run, all, told))
      .finally(() => this.#deciding.delete(deciding));
    this.#deciding.add(deciding);
  }

  #settle(run: Run, decided: Decided, told: Told): void {
    const { attempt, host } = run;
    const { events } = this.#options;
    const { outcome } = decided;
    const done = (how: Ended): void => {
      attempt.end();
      const timings = timingsOf(attempt, told);
      if (how === "settled") outcomeEvents(events, attempt, outcome, timings, told.why);
      else if (how === "lost") events.emit("lost", () => aboutJob(attempt));
      this.#ended(run, how, outcome, timings);
    };
    try {
      host.settle(attempt, decided, done);
    } catch (error) {
      // An extension has made of it what nobody can store. Its lease runs out: it must not be renewed for ever.
      this.#broke(attempt, error);
      attempt.end();
      host.dropped(attempt);
    }
  }

  /** Its time is up: another worker may have it, and nothing it says is sent. */
  #lost(run: Run, told: Told): void {
    const { attempt } = run;
    if (!attempt.decide()) return;
    attempt.end();
    this.#options.events.emit("lost", () => aboutJob(attempt));
    this.#ended(run, "lost", null, timingsOf(attempt, told));
  }

  /** By the caller's own transaction, or not by us at all. */
  #settledElsewhere(run: Run, how: "settled" | "lost", ranMs: number): void {
    const { attempt, host } = run;
    if (!attempt.decide()) return;
    attempt.end();
    host.dropped(attempt);
    const { events } = this.#options;
    const timings = timingsOf(attempt, { ranMs });
    if (how === "lost") events.emit("lost", () => aboutJob(attempt));
    else events.emit("succeeded", () => ({ ...aboutJob(attempt), ...timings }));
    this.#ended(run, how, how === "settled" ? succeed(undefined) : null, timings);
  }

  #ended(run: Run, how: Ended, outcome: Outcome | null, timings: Timings): void {
    const { hooks, view, isBegun } = run;
    if (!isBegun || hooks.ended.length === 0) return;
    this.#options.extensions.ended(hooks, view!, { how, outcome, timings });
  }
}

/** The job succeeds all the same: its work is done. */
export function reportDropped(logger: Logger, { job }: Attempt, error: unknown): void {
  logger.warn(
    `the result of job ${job.id} (${job.type}) is not stored: return plain JSON of at most 256 KiB`,
    { error },
  );
}

/** What the result schema makes of what the handler returned. In a caller's transaction that was done there. */
async function checkedResult(
  attempt: Attempt,
  running: RunningJob,
  body: () => unknown,
  schema: StandardSchema,
): Promise<unknown> {
  const value = await body();
  if (running.intent || attempt.settledWithin) return value;
  return validateWith(schema, value, `the result of ${attempt.job.type}`, ResultValidationError);
}

function timingsOf(attempt: Attempt, { ranMs = 0 }: Told): Timings {
  return { waitedMs: waitedMs(attempt), ranMs };
}

/**
 * From when it was due to when it started. The fence has the store's clock at the lease, so both ends are
 * of one clock; how long it waited here is of ours.
 */
function waitedMs({ job, acceptedAt, startedAt }: Attempt): number {
  const untilLeasedMs = Math.max(0, job.fence / 1_000 - job.runAt);
  return Math.round(untilLeasedMs + Math.max(0, (startedAt ?? acceptedAt) - acceptedAt));
}
