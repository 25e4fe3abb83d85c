/**
 * Takes jobs to the store. Single enqueues made close together share one commit; each is answered
 * only after its own. A reply that got lost is asked for again with the same ids: the second insert
 * finds the first.
 */
import type { EnqueueOptions, JobContract, JobItem } from "../core/contract.ts";
import { itemOptions } from "../core/contract.ts";
import {
  DuplicateJobError,
  HoldfastError,
  IdempotencyConflictError,
  InvalidOptionError,
  KeyBusyError,
  QueueFullError,
  StoreUnavailableError,
} from "../core/errors.ts";
import { BATCH_BYTES, BATCH_ITEMS, isFinished, type JobStatus, type NewJob } from "../core/job.ts";
import type { InsertResult, Store } from "../core/store.ts";
import { Batcher } from "./batcher.ts";
import type { ComposedJob, Composer } from "./compose-job.ts";
import { finishedJob, type FinishedJob } from "./job-view.ts";
import { sleep, type Runtime } from "./runtime.ts";
import { isRetryable, retryDelayMs } from "./store-link.ts";

/** How often an insert whose reply got lost is asked for again. */
const TRIES = 4;

export interface Receipt<Result = unknown> {
  /** Of the stored job; of the first one if this is a duplicate. */
  readonly id: string;
  readonly status: "added" | "duplicate";
  readonly queue: string;
  readonly type: string;
  /** What the job's status was when this receipt was made. */
  readonly jobStatus: JobStatus | "pruned";
  /** Of a duplicate whose first job had finished by then. */
  readonly outcome?: FinishedJob<Result>;
}

/** One item's answer from `enqueueAll`. */
export type EnqueueAnswer<Result = unknown> =
  Receipt<Result> | { readonly status: "refused"; readonly error: HoldfastError };

export type Insert = (jobs: readonly NewJob[]) => Promise<InsertResult[]>;

export interface ProducerOptions {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly composer: Composer;
  /** Resolves once the store is open. */
  readonly ready: () => Promise<void>;
}

export class Producer {
  readonly #options: ProducerOptions;
  readonly #inserts: Batcher<NewJob, InsertResult>;

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#inserts = new Batcher({
      run: (jobs) => this.#insert(jobs),
      defer: (callback) => options.runtime.defer(callback),
      maxItems: BATCH_ITEMS,
      maxBytes: BATCH_BYTES,
      // UTF-16 units to UTF-8 bytes, at worst.
      bytesOf: (job) => job.payload.length * 3,
      isolate: (error) => !isRetryable(error),
    });
  }

  async enqueue(
    target: JobContract | string,
    payload: unknown,
    options?: EnqueueOptions,
  ): Promise<Receipt> {
    const composed = await this.#options.composer.compose(target, payload, options);
    return this.#receipt(composed, await this.#inserts.add(composed.job));
  }

  enqueueAll(items: readonly JobItem[]): Promise<EnqueueAnswer[]> {
    return this.#answerAll(items, (composed) => this.#inserts.add(composed.job));
  }

  /** The same words inside a caller's transaction: no batching, the transaction is the batch. */
  through(insert: Insert): Pick<Producer, "enqueue" | "enqueueAll"> {
    const one = async (composed: ComposedJob) => (await insert([composed.job]))[0]!;
    return {
      enqueue: async (target, payload, options) => {
        const composed = await this.#options.composer.compose(target, payload, options);
        return this.#receipt(composed, await one(composed));
      },
      enqueueAll: (items) => this.#answerAll(items, one),
    };
  }

  idle(): Promise<void> {
    return this.#inserts.idle();
  }

  async #answerAll(
    items: readonly JobItem[],
    insert: (composed: ComposedJob) => Promise<InsertResult>,
  ): Promise<EnqueueAnswer[]> {
    if (!Array.isArray(items)) {
      throw new InvalidOptionError("enqueueAll takes an array of { type, payload, …options }");
    }
    return Promise.all(
      items.map(async (item): Promise<EnqueueAnswer> => {
        try {
          const composed = await this.#options.composer.compose(
            item.contract ?? item.type,
            item.payload,
            itemOptions(item),
          );
          return await this.#receipt(composed, await insert(composed));
        } catch (error) {
          const isItsOwn = error instanceof HoldfastError && !isAboutStore(error);
          if (isItsOwn) return { status: "refused", error };
          throw error;
        }
      }),
    );
  }

  async #insert(jobs: readonly NewJob[]): Promise<InsertResult[]> {
    const { store, runtime, ready } = this.#options;
    let isUnknown = false;
    for (let tries = 1; ; tries += 1) {
      try {
        await ready();
        return repeatedAsAdded(await store.insert(jobs), jobs, tries > 1);
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

  async #receipt(composed: ComposedJob, result: InsertResult): Promise<Receipt> {
    const { queue, type } = composed.job;
    switch (result.outcome) {
      case "added":
        return { id: result.id, status: "added", queue, type, jobStatus: "queued" };
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
    const outcome = await this.#outcomeOf(result.id, result.status, queue);
    return {
      id: result.id,
      status: "duplicate",
      queue,
      type,
      jobStatus: result.status,
      ...(outcome && { outcome }),
    };
  }

  async #outcomeOf(
    id: string,
    status: JobStatus | "pruned",
    queue: string,
  ): Promise<FinishedJob | null> {
    if (status === "pruned") return { status, id };
    if (!isFinished(status)) return null;
    const [found] = await this.#options.store.get([{ id, queue }]);
    if (found === "pruned") return { status: "pruned", id };
    return found ? finishedJob(found) : null;
  }
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

/** Trouble with the store is everybody's; all else concerns one item. */
function isAboutStore(error: HoldfastError): boolean {
  return (
    error.isRetryable && !(error instanceof QueueFullError) && !(error instanceof KeyBusyError)
  );
}
