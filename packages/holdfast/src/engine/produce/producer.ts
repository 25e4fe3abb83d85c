/**
 * Takes jobs to the store. Single enqueues made close together share one commit; each is answered
 * only after its own. A reply that got lost is asked for again with the same ids: the second insert
 * finds the first.
 *
 * If the store is away, and only if the user asked for it, a job is spooled (same id, so also when its
 * insert is in doubt) or runs in the caller (only when it surely was not stored: it has no second id
 * to be recognised by).
 */
import type { EnqueueOptions, JobContract, JobItem } from "../../core/contract.ts";
import { itemOptions } from "../../core/contract.ts";
import {
  DuplicateJobError,
  HoldfastError,
  IdempotencyConflictError,
  InlineRefusedError,
  InvalidOptionError,
  KeyBusyError,
  QueueFullError,
  StoreUnavailableError,
} from "../../core/errors.ts";
import {
  BATCH_BYTES,
  BATCH_ITEMS,
  isFinished,
  type JobStatus,
  type NewJob,
} from "../../core/job.ts";
import type { InsertResult, JobRef, Store } from "../../core/store.ts";
import { checkObject } from "../../core/option-checks.ts";
import { Batcher } from "./batcher.ts";
import { Batchers } from "./batchers.ts";
import type { Events } from "../events.ts";
import type { Extensions } from "../extensions.ts";
import type { ComposedJob, Composer } from "./compose-job.ts";
import type { InlineRunner } from "./inline-runner.ts";
import { finishedJob, type FinishedJob } from "../operate/job-view.ts";
import { sleep, type Runtime } from "../runtime.ts";
import type { Spooler } from "./spooler.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";

/** How often an insert whose reply got lost is asked for again. */
const TRIES = 4;

/** `ran` and `spooled` only with `new Holdfast({ resilient })`, and then the types say so. */
export type ReceiptStatus = "added" | "duplicate" | "spooled" | "ran";

/** `Status` follows from `new Holdfast({ resilient })`; by default it is any, so that a parameter takes every receipt. */
export interface Receipt<Result = unknown, Status extends ReceiptStatus = ReceiptStatus> {
  /** Of the stored job; of the first one if this is a duplicate. */
  readonly id: string;
  /**
   * `spooled`: it waits on this machine for the store. `ran`: it ran in the caller, and `outcome` says
   * how it ended.
   */
  readonly status: Status;
  readonly queue: string;
  readonly type: string;
  /** What the job's status was when this receipt was made. */
  readonly jobStatus: JobStatus | "pruned";
  /** Of a job that ran in the caller, or of a duplicate whose first job had finished by then. */
  readonly outcome?: FinishedJob<Result>;
}

/** One item's answer from `enqueueAll`. */
export type EnqueueAnswer<Result = unknown, Status extends ReceiptStatus = "added" | "duplicate"> =
  Receipt<Result, Status> | { readonly status: "refused"; readonly error: HoldfastError };

type AnyReceipt = Receipt<unknown, ReceiptStatus>;
type AnyAnswer = EnqueueAnswer<unknown, ReceiptStatus>;

export type Insert = (jobs: readonly NewJob[]) => Promise<InsertResult[]>;

export interface ProducerOptions {
  readonly store: Store;
  readonly hasSeveralServers: () => boolean;
  readonly runtime: Runtime;
  readonly composer: Composer;
  /** Resolves once the store is open. */
  readonly ready: () => Promise<void>;
  readonly spooler: Spooler | null;
  readonly inline: InlineRunner | null;
  readonly events: Events;
  readonly extensions: Extensions;
}

type Found = Extract<InsertResult, { readonly outcome: "duplicate" | "conflict" }>;
type Taken = InsertResult | { readonly outcome: "spooled"; readonly id: string };

export class Producer {
  readonly #options: ProducerOptions;
  readonly #inserts: Batchers<NewJob, Taken>;

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#inserts = new Batchers({
      ...batchesOf(options),
      hasSeveralServers: options.hasSeveralServers,
      queueOf: ({ queue }) => queue,
      run: (jobs, isRepeated) => this.#insert(jobs, isRepeated),
      atOnce: options.store.insertsAtOnce,
      isolate: (error) => !isRetryable(error),
    });
  }

  /** What is wrong with the job itself is thrown at once. */
  enqueue(
    target: JobContract | string,
    payload: unknown,
    options?: EnqueueOptions,
  ): Promise<AnyReceipt> {
    const composed = this.#options.composer.compose(target, payload, options);
    // To wait for what is there already would let every caller wait in line once more.
    if (composed instanceof Promise) return composed.then((job) => this.#take(job));
    return this.#take(composed);
  }

  enqueueAll(items: readonly JobItem[]): Promise<AnyAnswer[]> {
    return this.#answerAll(items, (composed) => this.#take(composed));
  }

  /** To the store, whatever its queues' bounds, and without any second way. */
  async deliver(jobs: readonly NewJob[]): Promise<InsertResult[]> {
    const { store, ready } = this.#options;
    await ready();
    this.#place(jobs);
    return store.insert(jobs, { evenIfFull: true });
  }

  /**
   * The same words inside a caller's transaction. Many jobs go in batches, one after the other: a call for
   * each would cost a round trip each, and a session of MongoDB takes no two at once.
   */
  through(insert: Insert, get: Store["get"]): Pick<Producer, "enqueue" | "enqueueAll"> {
    const placed: Insert = async (jobs) => {
      await this.#options.ready();
      this.#place(jobs);
      return insert(jobs);
    };
    const inserts = new Batcher<NewJob, InsertResult>({
      ...batchesOf(this.#options),
      run: placed,
      isolate: () => false,
    });
    const take = async (composed: ComposedJob) =>
      this.#receipt(composed, await inserts.add(composed.job), get);
    return {
      enqueue: async (target, payload, options) => {
        const composed = await this.#options.composer.compose(target, payload, options);
        const [result] = await placed([composed.job]);
        return this.#receipt(composed, result!, get);
      },
      enqueueAll: (items) => this.#answerAll(items, take),
    };
  }

  idle(): Promise<void> {
    return this.#inserts.idle();
  }

  async #answerAll(
    items: readonly JobItem[],
    take: (composed: ComposedJob) => Promise<AnyReceipt>,
  ): Promise<AnyAnswer[]> {
    if (!Array.isArray(items)) {
      throw new InvalidOptionError("enqueueAll takes an array of { type, payload, …options }");
    }
    return Promise.all(
      items.map(async (item): Promise<AnyAnswer> => {
        try {
          checkObject("an item of enqueueAll", item as unknown);
          const composed = await this.#options.composer.compose(
            item.contract ?? item.type,
            item.payload,
            itemOptions(item),
          );
          return await take(composed);
        } catch (error) {
          const isItsOwn = error instanceof HoldfastError && !isAboutStore(error);
          if (isItsOwn) return { status: "refused", error };
          throw error;
        }
      }),
    );
  }

  #take(composed: ComposedJob): Promise<AnyReceipt> {
    const refusal = this.#options.extensions.refuses(composed.job);
    if (refusal === undefined) return this.#push(composed);
    return refusal.then((error) => {
      if (error) throw error;
      return this.#push(composed);
    });
  }

  /** One promise for each job, and no more: a hundred callers at once wait for all of theirs. */
  #push(composed: ComposedJob): Promise<AnyReceipt> {
    return new Promise((resolve, reject) => {
      this.#inserts.push(composed.job, (error, taken) => {
        try {
          if (error === null) resolve(this.#taken(composed, taken as Taken));
          else resolve(this.#runInline(composed.job, error));
        } catch (refusal) {
          reject(refusal);
        }
      });
    });
  }

  #taken(composed: ComposedJob, taken: Taken): AnyReceipt | Promise<AnyReceipt> {
    const { job } = composed;
    const { events, extensions } = this.#options;
    if (taken.outcome !== "spooled") extensions.enqueued(job, taken);
    if (taken.outcome === "added") {
      events.emit("enqueued", () => {
        const { id, type, queue, group } = job;
        return { id, type, queue, group: group || null };
      });
    }
    return this.#receipt(composed, taken);
  }

  /** If no worker will run it, and the user asked for it; else it has failed. */
  async #runInline(job: NewJob, cause: unknown): Promise<AnyReceipt> {
    const { inline } = this.#options;
    if (!inline || !isSurelyAway(cause)) throw cause;
    // What it spawns goes the same way: to the store if that is back, else through the caller.
    const enqueue = (child: NewJob) =>
      this.#push({ job: child, onDuplicate: "return", onConflict: "return" });
    const outcome = await inline.run(job, { cause, enqueue });
    const { id, queue, type } = job;
    return { id, status: "ran", queue, type, jobStatus: outcome.status, outcome };
  }

  /** One batch after the other, so that what is spooled keeps the order of its callers. */
  async #insert(jobs: readonly NewJob[], isRepeated: boolean): Promise<Taken[]> {
    const { spooler } = this.#options;
    if (!spooler) return this.#insertPatiently(jobs, isRepeated);
    if (!(await spooler.isWaiting())) {
      try {
        return await this.#insertPatiently(jobs, isRepeated);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
      }
    }
    await spooler.add(jobs);
    return jobs.map(({ id }) => ({ outcome: "spooled", id }));
  }

  /** Of jobs that were made before the store was open: only now it is known where they belong. */
  #place(jobs: readonly NewJob[]): void {
    for (const job of jobs) this.#options.extensions.place(job);
  }

  async #insertPatiently(jobs: readonly NewJob[], isRepeated: boolean): Promise<InsertResult[]> {
    const { store, runtime, ready } = this.#options;
    let isUnknown = false;
    for (let tries = 1; ; tries += 1) {
      try {
        await ready().catch(asNotSent);
        this.#place(jobs);
        const areNew = !isRepeated && tries === 1;
        const results = await store.insert(jobs, { areNew });
        return repeatedAsAdded(results, jobs, tries > 1);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        isUnknown ||= error.mayHaveHappened;
        // Surely not done, and never in doubt: the caller may decide at once.
        if (!isUnknown) throw error;
        if (tries === TRIES) throw inDoubt(error);
        await sleep(runtime, retryDelayMs(tries, runtime.random()));
      }
    }
  }

  /** A promise only of a duplicate, which must be looked up. */
  #receipt(
    composed: ComposedJob,
    result: Taken,
    get: Store["get"] = (refs) => this.#options.store.get(refs),
  ): AnyReceipt | Promise<AnyReceipt> {
    const { queue, type } = composed.job;
    switch (result.outcome) {
      case "added":
      case "spooled":
        return { id: result.id, status: result.outcome, queue, type, jobStatus: "queued" };
      case "full":
        throw new QueueFullError(
          `queue "${queue}" has its ${result.maxWaiting} waiting jobs: enqueue again later, or raise maxWaiting with hf.limit`,
        );
      case "busy":
        throw new KeyBusyError(
          `an open transaction is taking or freeing this idempotency key in queue "${queue}": enqueue again once it has ended`,
        );
      case "conflict":
        if (composed.onConflict === "throw") {
          throw new IdempotencyConflictError(
            `the idempotency key belongs to job ${result.id} with another payload: use another key, or onConflict: "return"`,
            result.id,
          );
        }
        break;
      case "duplicate":
        if (composed.onDuplicate === "throw") {
          throw new DuplicateJobError(
            `job ${result.id} (${result.status}) has this idempotency key already`,
            result.id,
            result.status,
          );
        }
    }
    return this.#duplicateOf(result, { queue, type }, get);
  }

  async #duplicateOf(
    { id, status: jobStatus }: Pick<Found, "id" | "status">,
    { queue, type }: Pick<NewJob, "queue" | "type">,
    get: Store["get"],
  ): Promise<AnyReceipt> {
    const outcome = await outcomeOf({ id, queue }, jobStatus, get);
    return { id, status: "duplicate", queue, type, jobStatus, ...(outcome && { outcome }) };
  }
}

async function outcomeOf(
  { id, queue }: JobRef & { readonly queue: string },
  status: JobStatus | "pruned",
  get: Store["get"],
): Promise<FinishedJob | null> {
  if (status === "pruned") return { status, id };
  if (!isFinished(status)) return null;
  const [found] = await get([{ id, queue }]);
  if (found === "pruned") return { status: "pruned", id };
  return found ? finishedJob(found) : null;
}

/** Whatever is unknown of an opening, nothing was inserted. */
function asNotSent(error: unknown): never {
  if (!(error instanceof StoreUnavailableError) || !error.mayHaveHappened) throw error;
  throw new StoreUnavailableError(error.message, { cause: error, mayHaveHappened: false });
}

/** An earlier try may have been stored, whatever the last one says. */
function inDoubt(error: StoreUnavailableError): StoreUnavailableError {
  if (error.mayHaveHappened) return error;
  return new StoreUnavailableError(error.message, { cause: error, mayHaveHappened: true });
}

/** After a lost reply, a duplicate of the very same id is our own first try. */
function repeatedAsAdded(
  results: InsertResult[],
  jobs: readonly NewJob[],
  repeated: boolean,
): InsertResult[] {
  if (!repeated) return results;
  return results.map((result, at) =>
    result.outcome === "duplicate" && result.id === jobs[at]!.id
      ? { outcome: "added", id: result.id }
      : result,
  );
}

/** Never where the insert may have happened: the job would run twice. */
function isSurelyAway(error: unknown): boolean {
  return error instanceof StoreUnavailableError && !error.mayHaveHappened;
}

/** Trouble with the store concerns all items; all else concerns one. */
function isAboutStore(error: HoldfastError): boolean {
  const items = [QueueFullError, KeyBusyError, InlineRefusedError];
  return error.isRetryable && !items.some((Class) => error instanceof Class);
}

function batchesOf({ runtime, store }: ProducerOptions) {
  return {
    defer: (callback: () => void) => runtime.defer(callback),
    maxItems: store.batchItems ?? BATCH_ITEMS,
    maxBytes: BATCH_BYTES,
    // UTF-16 units to UTF-8 bytes, at worst.
    bytesOf: (job: NewJob) => job.payload.length * 3,
  };
}
