/** The front door: one object that enqueues, runs, looks and steers. Each part has its own file. */
import {
  defineJob,
  type EnqueueOptions,
  type JobContract,
  type JobItem,
  type JobOptions,
} from "../core/contract.ts";
import { ClosedError, InvalidOptionError, UnsupportedError } from "../core/errors.ts";
import { checkObject, checkWhole, MAX_DURATION_MS, refuseUnknown } from "../core/option-checks.ts";
import type { InferInput, InferOutput, StandardSchema } from "../core/standard-schema.ts";
import type { Store, StoreInfo } from "../core/store.ts";
import { checkNode } from "./check-node.ts";
import { Composer } from "./compose-job.ts";
import { currentAttempt, refuseInOpenTransaction } from "./current-attempt.ts";
import { Events, type EventListener, type EventName } from "./events.ts";
import type { FinishedJob } from "./job-view.ts";
import { stderrLogger, type Logger } from "./logger.ts";
import {
  Operator,
  type JobsQuery,
  type LimitOptions,
  type LineTarget,
  type PauseOptions,
  type RetryOptions,
  type WhyOptions,
} from "./operator.ts";
import { Producer, type EnqueueAnswer, type Receipt } from "./producer.ts";
import { Registry, type Handler } from "./registry.ts";
import { Retention, type RetentionOptions } from "./retention.ts";
import type { RunningJob } from "./running-job.ts";
import { systemRuntime, type Runtime } from "./runtime.ts";
import type {
  AnyContract,
  ContractOf,
  DefinedJob,
  DefineWithout,
  DefineWithSchema,
  HandlerResult,
  InputOf,
  OutputOf,
  ResultOf,
  TypeOf,
} from "./typed-jobs.ts";
import { Waiter } from "./waiter.ts";
import { checkWorkOptions, type WorkOptions } from "./work-options.ts";
import { Worker } from "./worker.ts";

export interface HoldfastOptions<Jobs extends readonly AnyContract[] = readonly AnyContract[]> {
  readonly store: Store;
  /** Contracts known from the start: they type and route `hf.enqueue("type", …)`. */
  readonly jobs?: Jobs | undefined;
  readonly logger?: Logger | undefined;
  readonly retention?: RetentionOptions | undefined;
  /** Default 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** Clock, timers, chance and ids; for tests and simulations. */
  readonly runtime?: Runtime | undefined;
}

const OPTIONS = ["store", "jobs", "logger", "retention", "maxPayloadBytes", "runtime"];
const DEFAULT_MAX_PAYLOAD_BYTES = 1024 * 1024;
/** Beyond this a store would have to split one job over several calls. */
const MOST_PAYLOAD_BYTES = 3 * 1024 * 1024;

export class Holdfast<const Jobs extends readonly AnyContract[] = readonly []> {
  readonly #store: Store;
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  readonly #registry = new Registry();
  readonly #events: Events;
  readonly #retention: Retention;
  readonly #composer: Composer;
  readonly #producer: Producer;
  readonly #operator: Operator;
  readonly #waiter: Waiter;
  readonly #workers = new Set<Worker>();
  #opening: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: HoldfastOptions<Jobs>) {
    checkNode();
    checkObject("new Holdfast", options);
    refuseUnknown("new Holdfast", options, OPTIONS);
    if (typeof options.store?.lease !== "function") {
      throw new InvalidOptionError(
        "new Holdfast needs a store: for example sqliteStore({ file }) from holdfast/sqlite",
      );
    }
    const { store, runtime = systemRuntime(), logger = stderrLogger } = options;
    const maxPayloadBytes = checkWhole(
      "maxPayloadBytes",
      options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES,
      { min: 1, max: MOST_PAYLOAD_BYTES },
    );
    const registry = this.#registry;
    this.#store = store;
    this.#runtime = runtime;
    this.#logger = logger;
    this.#events = new Events(logger);
    this.#retention = new Retention(options.retention);
    this.#composer = new Composer({ runtime, registry, maxPayloadBytes });
    this.#producer = new Producer({
      store,
      runtime,
      composer: this.#composer,
      ready: () => this.#ready(),
    });
    this.#operator = new Operator({ store, registry, maxPayloadBytes });
    this.#waiter = new Waiter({ store, runtime });
    for (const contract of options.jobs ?? []) registry.addContract(contract as JobContract);
  }

  /** A contract and its handler in one. */
  define<const Type extends string, Schema extends StandardSchema, Returned>(
    options: DefineWithSchema<Type, Schema, Returned>,
  ): DefinedJob<Type, InferInput<Schema>, InferOutput<Schema>, HandlerResult<Returned>>;
  define<const Type extends string, Returned, Payload = unknown>(
    options: DefineWithout<Type, Payload, Returned>,
  ): DefinedJob<Type, Payload, Payload, HandlerResult<Returned>>;
  define(given: JobOptions & { readonly run?: unknown }): unknown {
    const { run, ...options } = given;
    if (typeof run !== "function") {
      throw new InvalidOptionError("hf.define needs run(job) { … }; a contract alone is defineJob");
    }
    const defined: DefinedJob = {
      ...(defineJob(options as JobOptions<string, undefined>) as JobContract),
      enqueue: (payload, enqueueOptions) => this.#enqueue(defined, payload, enqueueOptions),
      of: (payload, itemOptions) => ({
        ...itemOptions,
        type: defined.type,
        payload,
        contract: defined,
      }),
    };
    this.#registry.addHandler(defined, run as Handler);
    return defined;
  }

  /** The handler of a contract that was defined elsewhere, or of a type by its name. */
  handle<Contract extends AnyContract>(
    contract: Contract,
    handler: Handler<OutputOf<Contract>>,
  ): this;
  handle(type: string, handler: Handler): this;
  handle(target: AnyContract | string, handler: (job: RunningJob<never>) => unknown): this {
    if (typeof handler !== "function") {
      throw new InvalidOptionError(
        "hf.handle needs a function: hf.handle(contract, async (job) => { … })",
      );
    }
    this.#registry.addHandler(target as JobContract | string, handler as Handler);
    return this;
  }

  /** Resolves once the job is stored and will survive. */
  enqueue<Contract extends AnyContract>(
    contract: Contract,
    payload: InputOf<Contract>,
    options?: EnqueueOptions,
  ): Promise<Receipt<ResultOf<Contract>>>;
  enqueue<Type extends TypeOf<Jobs>>(
    type: Type,
    payload: InputOf<ContractOf<Jobs, Type>>,
    options?: EnqueueOptions,
  ): Promise<Receipt<ResultOf<ContractOf<Jobs, Type>>>>;
  enqueue<Type extends string>(
    type: Type extends TypeOf<Jobs> ? never : Type,
    payload: unknown,
    options?: EnqueueOptions,
  ): Promise<Receipt>;
  enqueue(
    target: AnyContract | string,
    payload: unknown,
    options?: EnqueueOptions,
  ): Promise<Receipt> {
    return this.#enqueue(target as JobContract | string, payload, options);
  }

  /** Answers per item, in order: one bad item never spoils the others. */
  async enqueueAll(items: readonly JobItem[]): Promise<EnqueueAnswer[]> {
    refuseInOpenTransaction();
    this.#refuseClosed();
    return this.#producer.enqueueAll(items);
  }

  /** The same inside the caller's own transaction: the job exists exactly if it commits. */
  within(tx: unknown): Pick<Holdfast<Jobs>, "enqueue" | "enqueueAll"> {
    this.#refuseClosed();
    const { within } = this.#store;
    if (!within) {
      throw new UnsupportedError(
        `the ${this.#store.info().name} store has no transactions of its callers`,
      );
    }
    const ready = this.#ready();
    const transaction = ready.then(() => {
      const opened = within.call(this.#store, tx);
      const attempt = currentAttempt();
      if (attempt && this.#store.info().transactionBlocksWriters) attempt.blockedBy = opened;
      return opened;
    });
    // Whoever uses it hears of the failure; nobody else must.
    transaction.catch(() => {});
    const producer = this.#producer.through(async (jobs) => (await transaction).insert(jobs));
    return {
      enqueue: (target: AnyContract | string, payload: unknown, options?: EnqueueOptions) =>
        producer.enqueue(target as JobContract | string, payload, options),
      enqueueAll: (items) => producer.enqueueAll(items),
    } as Pick<Holdfast<Jobs>, "enqueue" | "enqueueAll">;
  }

  /** Starts a worker; resolves when it is claiming. */
  async work(options: WorkOptions = {}): Promise<Worker> {
    const settings = checkWorkOptions(options, this.#registry.handledQueues());
    await this.#ready();
    const worker = new Worker(
      {
        store: this.#store,
        runtime: this.#runtime,
        logger: this.#logger,
        events: this.#events,
        registry: this.#registry,
        retention: this.#retention,
        compose: async (target, payload, enqueueOptions) =>
          (await this.#composer.compose(target, payload, enqueueOptions)).job,
      },
      settings,
    );
    this.#workers.add(worker);
    await worker.start();
    return worker;
  }

  /** How the job ended: a union on `status`. */
  async waitFor<Result = unknown>(
    target: Receipt<Result> | string,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<FinishedJob<Result>> {
    const { timeoutMs } = options;
    if (timeoutMs !== undefined) {
      checkWhole("timeoutMs", timeoutMs, { min: 1, max: MAX_DURATION_MS });
    }
    await this.#ready();
    const ref =
      typeof target === "string" ? { id: target } : { id: target.id, queue: target.queue };
    const finished = await this.#waiter.waitFor(ref, { timeoutMs: timeoutMs ?? null });
    return finished as FinishedJob<Result>;
  }

  /** Null if there is no such job. */
  job(id: string): ReturnType<Operator["job"]> {
    return this.#operate((operator) => operator.job(id));
  }
  jobs(query: JobsQuery = {}): ReturnType<Operator["jobs"]> {
    return this.#operate((operator) => operator.jobs(query));
  }
  /** By queue and status. */
  counts(): ReturnType<Operator["counts"]> {
    return this.#operate((operator) => operator.counts());
  }
  /** The lines of a queue: who waits, who runs, who is held. */
  lines(
    queue: string,
    page?: { readonly limit?: number; readonly cursor?: string | null },
  ): ReturnType<Operator["lines"]> {
    return this.#operate((operator) => operator.lines(queue, page));
  }
  /** Queued: cancelled now. Processing: its handler is asked to stop. Finished: refused. */
  cancel(id: string, options?: WhyOptions): Promise<"cancelled" | "asked" | "refused"> {
    return this.#operate((operator) => operator.cancel(id, options));
  }
  /** A dead or cancelled job runs again, with its history; any other is refused. */
  retry(id: string, options?: RetryOptions): Promise<"retried" | "refused"> {
    return this.#operate((operator) => operator.retry(id, options));
  }
  /** Forgets a job and frees its idempotency key; one that runs is refused. */
  remove(id: string, options?: WhyOptions): Promise<"removed" | "refused"> {
    return this.#operate((operator) => operator.remove(id, options));
  }
  /** Holds a queue or a group of it; running jobs go on. */
  pause(target: LineTarget, options?: PauseOptions): Promise<void> {
    return this.#operate((operator) => operator.pause(target, options));
  }
  resume(target: LineTarget): Promise<void> {
    return this.#operate((operator) => operator.resume(target));
  }
  limit(target: LineTarget, options: LimitOptions): Promise<void> {
    return this.#operate((operator) => operator.limit(target, options));
  }

  /** What this process's own workers do. Returns the way to stop listening. */
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    return this.#events.on(name, listener);
  }

  /** What the store promises. */
  async info(): Promise<StoreInfo> {
    await this.#ready();
    return this.#store.info();
  }

  /** Stops the workers, waits for what is on its way, closes the store. May be called again. */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(options: { readonly graceMs?: number }): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop(options)));
    await this.#producer.idle();
    this.#waiter.close(new ClosedError("this Holdfast was closed while you waited"));
    await this.#store.close();
  }

  async #enqueue(
    target: JobContract | string,
    payload: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<Receipt> {
    refuseInOpenTransaction();
    this.#refuseClosed();
    return this.#producer.enqueue(target, payload, options);
  }

  async #operate<Out>(act: (operator: Operator) => Promise<Out>): Promise<Out> {
    refuseInOpenTransaction();
    await this.#ready();
    return act(this.#operator);
  }

  #refuseClosed(): void {
    if (this.#closing) throw new ClosedError("this Holdfast is closed: make a new one");
  }

  /** Opens the store once; a failed opening may be tried again. */
  #ready(): Promise<void> {
    this.#refuseClosed();
    this.#opening ??= this.#store.open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }
}
