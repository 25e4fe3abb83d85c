/**
 * Takes one attempt from its slot to its settle: refuse what must not run, run the handler, decide,
 * hand the outcome to the settler, tell the listeners once the store has it.
 */
import type { EnqueueOptions } from "../../core/contract.ts";
import { LeaseLostError, UnsupportedError, type HoldfastError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import { decodeJson } from "../../core/json-text.ts";
import type { Outcome } from "../../core/outcome.ts";
import { validateWith } from "../../core/standard-schema.ts";
import type { Settlement } from "../../core/store.ts";
import type { Attempt } from "./attempt.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";
import { decideBeforeRunning, decideFailure, succeed } from "../settle/decide.ts";
import type { Events } from "../events.ts";
import type { LeaseKeeper } from "../lease/lease-keeper.ts";
import type { Logger } from "../logger.ts";
import { outcomeEvents } from "../settle/outcome-events.ts";
import type { Definition, Registry } from "../registry.ts";
import type { Retention } from "../retention.ts";
import { runHandler, type Ending } from "./run-handler.ts";
import { RunningJob, type RunningJobHost, type SpawnTarget } from "./running-job.ts";
import { sleep, type Runtime } from "../runtime.ts";
import type { Settler } from "../settle/settler.ts";
import { isRetryable, type StoreLink } from "../store-link.ts";
import type { UnknownTypes } from "./unknown-types.ts";

export interface JobRunnerOptions {
  readonly link: StoreLink;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly events: Events;
  readonly registry: Registry;
  readonly retention: Retention;
  readonly ledgerWriter: LedgerWriter;
  readonly keeper: LeaseKeeper;
  readonly settler: Settler;
  readonly unknownTypes: UnknownTypes;
  readonly compose: (
    target: SpawnTarget,
    payload: unknown,
    options: EnqueueOptions | undefined,
  ) => Promise<NewJob> | NewJob;
}

export interface ReleaseOptions {
  readonly afterMs?: number;
  /** The store has answered, whatever it said. */
  readonly done?: () => void;
}

/** What goes with an outcome besides the outcome. */
interface Told {
  readonly why?: string;
  readonly error?: unknown;
  readonly ranMs?: number;
  /** It never ran: handing it back under its fence can hurt nobody. */
  readonly evenIfLate?: boolean;
  readonly done?: () => void;
}

export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #host: RunningJobHost;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#host = {
      keeper: options.keeper,
      compose: options.compose,
      settleWithin: (attempt, tx, result) => this.#settleWithin(attempt, tx, result),
    };
  }

  /** Resolves when the slot is free again; the settle may still be on its way. */
  async run(attempt: Attempt): Promise<void> {
    const { registry, unknownTypes, keeper } = this.#options;
    // The buffer may have outlived its lease while something blocked the loop.
    if (!keeper.check(attempt)) return this.release(attempt, "its lease ran out before it started");
    const { job } = attempt;
    const definition = registry.get(job.type);
    if (!definition?.handler) {
      const afterMs = unknownTypes.met(job.type, job.queue);
      return this.#settle(attempt, { kind: "release", afterMs }, { why: "unknown type" });
    }
    const ended = decideBeforeRunning(job, definition.contract);
    if (ended) return this.#settle(attempt, ended);
    attempt.phase = "running";
    let payload: unknown;
    try {
      payload = decodeJson(job.payload);
      const schema = definition.contract.payload;
      if (schema) payload = await validateWith(schema, payload, `the payload of ${job.type}`);
    } catch (error) {
      return this.#settle(attempt, this.#failed(attempt, definition, error), { error });
    }
    await this.#handle(attempt, definition, new RunningJob(attempt, payload, this.#host));
  }

  /** Gives back what was leased and never started: no attempt is spent. */
  release(attempt: Attempt, why: string, { afterMs = 0, done }: ReleaseOptions = {}): void {
    const told = { why, evenIfLate: true, ...(done && { done }) };
    this.#settle(attempt, { kind: "release", afterMs }, told);
  }

  async #handle(attempt: Attempt, definition: Definition, running: RunningJob): Promise<void> {
    const { runtime, events } = this.#options;
    const { contract, handler } = definition;
    events.emit("started", () => aboutJob(attempt));
    const startedAt = runtime.monotonic();
    const ending = await runHandler(attempt, running, {
      handler: handler!,
      runtime,
      timeoutMs: contract.timeoutMs,
      onAbandoned: (reason) => this.#abandon(attempt, definition, reason),
    });
    // Settled without it meanwhile: what it says now is not heard.
    if (attempt.phase !== "running") return;
    if (attempt.settledWithin) return this.#readBack(attempt, definition);
    const outcome = this.#decide(attempt, definition, running, ending);
    const error = ending.kind === "threw" ? ending.error : undefined;
    this.#settle(attempt, outcome, { error, ranMs: runtime.monotonic() - startedAt });
  }

  /** Its signal aborted and it went on: the job is settled without it. */
  #abandon(attempt: Attempt, definition: Definition, { message }: HoldfastError): void {
    const { logger, events } = this.#options;
    const { type } = definition.contract;
    logger.warn(`a handler of ${type} goes on after its signal aborted`, { reason: message });
    events.emit("abandoned", () => ({ ...aboutJob(attempt), reason: message }));
    // Settled in a transaction of its own that is still open: only the database can tell.
    if (!attempt.settledWithin) this.#settle(attempt, this.#failed(attempt, definition, null));
  }

  #decide(attempt: Attempt, definition: Definition, running: RunningJob, ending: Ending): Outcome {
    if (ending.kind === "returned") return running.intent ?? succeed(ending.value);
    return this.#failed(attempt, definition, ending.error);
  }

  #failed(attempt: Attempt, { contract }: Definition, error: unknown): Outcome {
    const { runtime } = this.#options;
    return decideFailure(error, {
      job: attempt.job,
      contract,
      abortReason: attempt.abortReason,
      nowMs: runtime.wallClock(),
      random: runtime.random(),
    });
  }

  #settle(attempt: Attempt, outcome: Outcome, told: Told = {}): void {
    const { keeper, settler, events, logger } = this.#options;
    if (!told.evenIfLate && !keeper.check(attempt)) {
      attempt.end();
      events.emit("lost", () => aboutJob(attempt));
      return;
    }
    attempt.phase = "decided";
    settler.push(this.#settlement(attempt, outcome), (error, result) => {
      keeper.drop(attempt);
      attempt.end();
      told.done?.();
      if (error !== null) {
        const message = `job ${attempt.job.id} could not be settled; its lease will run out`;
        // Of a store that is away the settler has spoken, once for all.
        if (!isRetryable(error)) logger.error(message, { error });
      } else if (result === "lost") {
        events.emit("lost", () => aboutJob(attempt));
      } else {
        outcomeEvents(events, aboutJob(attempt), outcome, told);
      }
    });
  }

  #settlement(attempt: Attempt, outcome: Outcome): Settlement {
    const { queue } = attempt.job;
    const { ledgerWriter, retention } = this.#options;
    const updates = attempt.takeUpdates();
    const status = finishedStatus(outcome);
    return {
      ...attempt.ref,
      outcome,
      ...(outcome.kind !== "succeed" && ledgerWriter.entries(attempt, outcome)),
      ...(updates && { updates }),
      ...(outcome.kind === "succeed" && attempt.spawned.length > 0 && { spawn: attempt.spawned }),
      ...(status && retention.discards(queue, status) && { discard: true }),
    };
  }

  async #settleWithin(attempt: Attempt, tx: unknown, result: unknown): Promise<void> {
    const { keeper, link } = this.#options;
    keeper.demand(attempt);
    if (!link.store.within) {
      throw new UnsupportedError("this store has no transactions of its callers: see info()");
    }
    const within = link.store.within(tx);
    if (link.store.info().transactionBlocksWriters) attempt.blockedBy = within;
    // From here on no renewal may wait for the caller's row locks.
    attempt.settledWithin = within;
    const [answer] = await within.settle([this.#settlement(attempt, succeed(result))]);
    if (answer === "settled") return;
    attempt.settledWithin = null;
    const lost = new LeaseLostError(`the lease of job ${attempt.job.id} is lost`);
    attempt.abort(lost);
    throw lost;
  }

  /** Settled in the caller's transaction: only the database knows whether that committed. */
  async #readBack(attempt: Attempt, definition: Definition): Promise<void> {
    const { runtime, link, keeper, events } = this.#options;
    const { id, queue, fence } = attempt.job;
    for (let looks = 0; attempt.settledWithin?.isOpen() && looks < 50; looks += 1) {
      await sleep(runtime, 100);
    }
    for (;;) {
      try {
        const [found] = await link.call((store) => store.get([{ id, queue }]));
        attempt.settledWithin = null;
        const isOpen = typeof found === "object" && found !== null;
        if (isOpen && found.status === "processing" && found.fence === fence) {
          const error = new Error("the transaction in which the job was settled did not commit");
          return this.#settle(attempt, this.#failed(attempt, definition, error), { error });
        }
        keeper.drop(attempt);
        attempt.end();
        events.emit("succeeded", () => ({ ...aboutJob(attempt), ranMs: 0 }));
        return;
      } catch (error) {
        if (!isRetryable(error)) throw error;
        await sleep(runtime, 100);
      }
    }
  }
}

function finishedStatus(outcome: Outcome): "succeeded" | "dead" | "cancelled" | null {
  switch (outcome.kind) {
    case "succeed":
      return "succeeded";
    case "die":
      return "dead";
    case "cancel":
      return "cancelled";
    case "retry":
    case "snooze":
    case "release":
      return null;
  }
}

function aboutJob({ job, worker }: Attempt) {
  const { id, type, queue, group, attempt } = job;
  return { id, type, queue, group: group || null, attempt, worker };
}
