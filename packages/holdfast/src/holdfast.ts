/** The front door: one object that enqueues, runs, looks and steers. Each part has its own file. */
import type { EnqueueOptions, JobContract, JobItem, JobOptions } from "./core/contract.ts";
import { ClosedError } from "./core/errors.ts";
import { checkGrace } from "./core/option-checks.ts";
import type { Alerts } from "./control/alerts/alerts.ts";
import type { DeadLetters } from "./control/dead-letters/dead-letters.ts";
import type { Failures } from "./control/failures/failures.ts";
import { retryJob } from "./control/failures/retry-job.ts";
import type { Gates } from "./control/gates/gates.ts";
import type { Locks } from "./control/locks/locks.ts";
import type { Operation, Operations } from "./control/operations/operations.ts";
import type { Queues } from "./control/queues/queues.ts";
import type { ScheduleOptions, Schedules } from "./control/schedules/schedules.ts";
import type { AppRecords } from "./control/records/app-records.ts";
import type { StatsQuery, StatsView } from "./control/stats/stats.ts";
import type { WhyView } from "./control/why/why.ts";
import type { Workers } from "./control/workers/workers.ts";
import type { StandardSchema } from "./core/standard-schema.ts";
import type { StoreInfo } from "./core/store.ts";
import { checkNode } from "./engine/check-node.ts";
import { refuseInOpenTransaction } from "./engine/run/current-attempt.ts";
import type { EventListener, EventName } from "./engine/events.ts";
import type { Health } from "./engine/operate/health.ts";
import { checkHoldfastOptions } from "./holdfast-options.ts";
import type { HoldfastOptions, Resilience, StatusOf } from "./holdfast-options.ts";
import type { FinishedJob } from "./engine/operate/job-view.ts";
import { readLedger, type LedgerEntries, type LedgerQuery } from "./engine/operate/ledger-view.ts";
import type {
  JobsQuery,
  LimitOptions,
  LineTarget,
  Operator,
  PauseOptions,
  RetryOptions,
  WhyOptions,
} from "./engine/operate/operator.ts";
import { checkWait } from "./engine/operate/waiter.ts";
import { closeEngine, createEngine, openEngine, type Engine } from "./engine/create-engine.ts";
import type { EnqueueAnswer, Receipt, ReceiptStatus } from "./engine/produce/producer.ts";
import { producerWithin } from "./engine/produce/producer-within.ts";
import type { Handler } from "./engine/registry.ts";
import type { RunningJob } from "./engine/run/running-job.ts";
import type {
  AnyContract,
  ContractOf,
  Defined,
  DefineOptions,
  InputOf,
  OutputOf,
  PayloadOf,
  ResultOf,
  ReturnedOf,
  RunReturns,
  TypeOf,
} from "./engine/typed-jobs.ts";
import type { WorkOptions } from "./engine/lease/work-options.ts";
import type { Worker } from "./engine/lease/worker.ts";
import { definedJob } from "./defined-job.ts";
import { createControl } from "./control-parts.ts";
import { OwnWorkers } from "./own-workers.ts";
import { useMiddleware, type Middleware } from "./middleware.ts";
import { toolsOf, type Tools } from "./tools.ts";
export type { HoldfastOptions } from "./holdfast-options.ts";

/** How long `close` waits for jobs that run in their callers, unless told otherwise. */
const GRACE_MS = 10_000;

export class Holdfast<
  const Jobs extends readonly AnyContract[] = readonly [],
  const How extends Resilience | undefined = undefined,
> {
  readonly #engine: Engine;
  readonly #own: OwnWorkers;
  /** The fleet: every process that works on this store. */
  readonly workers: Workers;
  /** Settings of queues, kept in the store. */
  readonly queues: Queues;
  /** What failed, attempt by attempt. */
  readonly failures: Failures;
  /** Dead jobs: what they died of, and what to do about it. */
  readonly deadLetters: DeadLetters;
  /** What people are told without asking. */
  readonly alerts: Alerts;
  /** Execution locks: which work runs, or is done and does not run again. */
  readonly locks: Locks;
  /** The same thing done to many jobs; it survives its process. */
  readonly operations: Operations;
  /** Rules that make jobs at their times. */
  readonly schedules: Schedules;
  /** Rates, cooldowns and breakers that hold jobs and calls back. */
  readonly gates: Gates;
  /** Small shared state of the application, changed by compare-and-set. */
  readonly records: AppRecords;
  readonly #control: Pick<ReturnType<typeof createControl>, "stats" | "why" | "shards">;
  /** What servers and command lines need besides. */
  readonly tools: Tools;
  #opening: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: HoldfastOptions<Jobs, How>) {
    checkNode();
    const checked = checkHoldfastOptions(options);
    this.#engine = createEngine(checked, () => this.#ready());
    const opened = () => this.#opening ?? this.#ready();
    const doors = { ready: () => this.#ready(), opened, ledgerReady: () => this.#ledgerReady() };
    const control = createControl(this.#engine, options as HoldfastOptions, checked, doors);
    this.workers = control.workers;
    this.queues = control.queues;
    this.failures = control.failures;
    this.deadLetters = control.deadLetters;
    this.alerts = control.alerts;
    this.locks = control.locks;
    this.operations = control.operations;
    this.schedules = control.schedules;
    this.gates = control.gates;
    this.records = control.records;
    this.#control = control;
    const isClosed = () => this.#closing !== null;
    this.#own = new OwnWorkers({ engine: this.#engine, ...control, isClosed });
    this.tools = toolsOf(this.#engine, { ...checked, ready: () => this.#ready() });
  }

  /** A contract and its handler in one. */
  define<
    const Type extends string,
    Schema extends StandardSchema | undefined = undefined,
    ResultSchema extends StandardSchema | undefined = undefined,
    Returned extends RunReturns<ResultSchema> = RunReturns<ResultSchema>,
    Payload = unknown,
  >(
    options: DefineOptions<Type, Schema, ResultSchema, Returned, Payload>,
  ): Defined<Type, Schema, ResultSchema, Returned, Payload, StatusOf<How>>;
  define(given: JobOptions & { readonly run?: unknown }): unknown {
    this.#refuseClosed();
    const { defined, run } = definedJob(given, (job, payload, options) =>
      this.#enqueue(job, payload, options),
    );
    this.#engine.registry.addHandler(defined, run);
    return defined;
  }

  /** The handler of a contract that was defined elsewhere, or of a type by its name. */
  handle<Contract extends AnyContract>(
    contract: Contract,
    handler: Handler<OutputOf<Contract>, ReturnedOf<Contract>>,
  ): this;
  handle<Type extends TypeOf<Jobs>>(
    type: Type,
    handler: Handler<OutputOf<ContractOf<Jobs, Type>>, ReturnedOf<ContractOf<Jobs, Type>>>,
  ): this;
  handle<Type extends string>(
    type: Type extends TypeOf<Jobs> ? never : Type,
    handler: Handler,
  ): this;
  handle(target: AnyContract | string, handler: (job: RunningJob<never, never>) => unknown): this {
    this.#refuseClosed();
    this.#engine.registry.addHandler(target as JobContract | string, handler as Handler);
    return this;
  }

  /** Declares a schedule. It is brought into the store when a worker starts, and fires once for the whole fleet. */
  schedule(name: string, options: ScheduleOptions): this {
    this.#refuseClosed();
    this.schedules.declare(name, options);
    return this;
  }

  /** Resolves once the job is stored and will survive. */
  enqueue<Contract extends AnyContract>(
    contract: Contract,
    payload: InputOf<Contract>,
    options?: EnqueueOptions,
  ): Promise<Receipt<ResultOf<Contract>, StatusOf<How>>>;
  enqueue<Type extends TypeOf<Jobs>>(
    type: Type,
    payload: InputOf<ContractOf<Jobs, Type>>,
    options?: EnqueueOptions,
  ): Promise<Receipt<ResultOf<ContractOf<Jobs, Type>>, StatusOf<How>>>;
  enqueue<Type extends string>(
    type: Type extends TypeOf<Jobs> ? never : Type,
    payload: unknown,
    options?: EnqueueOptions,
  ): Promise<Receipt<unknown, StatusOf<How>>>;
  enqueue(
    target: AnyContract | string,
    payload: unknown,
    options?: EnqueueOptions,
  ): Promise<Receipt<unknown, ReceiptStatus>> {
    return this.#enqueue(target as JobContract | string, payload, options);
  }

  /** Answers per item, in order: one bad item never spoils the others. */
  async enqueueAll<const Types extends readonly string[]>(items: {
    readonly [At in keyof Types]: JobItem<Types[At], PayloadOf<Jobs, Types[At]>>;
  }): Promise<EnqueueAnswer<unknown, StatusOf<How>>[]> {
    refuseInOpenTransaction();
    this.#refuseClosed();
    const answers = await this.#engine.producer.enqueueAll(items as readonly JobItem[]);
    return answers as EnqueueAnswer<unknown, StatusOf<How>>[];
  }

  /** The same inside the caller's own transaction: the job exists exactly if it commits. */
  within(tx: unknown): Pick<Holdfast<Jobs>, "enqueue" | "enqueueAll"> {
    this.#refuseClosed();
    const producer = producerWithin(this.#engine, tx, () => this.#ready());
    return {
      enqueue: (target: AnyContract | string, payload: unknown, options?: EnqueueOptions) =>
        producer.enqueue(target as JobContract | string, payload, options),
      enqueueAll: (items: readonly JobItem[]) => producer.enqueueAll(items),
    } as Pick<Holdfast<Jobs>, "enqueue" | "enqueueAll">;
  }

  /** Starts a worker; resolves when it is claiming. */
  async work(options: WorkOptions = {}): Promise<Worker> {
    const checked = this.#own.check(options);
    // Where there is no store, this says so.
    await this.info();
    this.#refuseClosed();
    return this.#own.work(checked);
  }

  /** Around every handler, and beside every event of this process. Returns the way to stop it. */
  use(middleware: Middleware): () => void {
    this.#refuseClosed();
    return useMiddleware(this.#engine, middleware);
  }

  /** How the job ended: a union on `status`. */
  async waitFor<Result = unknown>(
    target: Receipt<Result, ReceiptStatus> | string,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<FinishedJob<Result>> {
    const { ref, timeoutMs } = checkWait(target, options);
    if (typeof target === "object" && target.status === "ran" && target.outcome) {
      return target.outcome;
    }
    await this.#ready();
    const finished = await this.#engine.waiter.waitFor(ref, { timeoutMs });
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
  retry(id: string, options: RetryOptions = {}): Promise<"retried" | "refused"> {
    return this.#operate((operator) => retryJob(this.#engine, operator, { id, options }));
  }
  /** Forgets a job and frees its idempotency key; one that runs is refused. */
  remove(id: string, options?: WhyOptions): Promise<"removed" | "refused"> {
    return this.#operate((operator) => operator.remove(id, options));
  }
  /** A tenant: jobs, ledger entries and locks of a group, by an operation. */
  erase(target: { readonly group: string }, options?: WhyOptions): Promise<Operation> {
    return this.operations.erase(target, options);
  }
  /** Holds a queue or a group of it; running jobs go on. */
  pause(target: LineTarget, options?: PauseOptions): Promise<void> {
    return this.#inParts(target, (operator, part) => operator.pause(part, options));
  }
  resume(target: LineTarget): Promise<void> {
    return this.#inParts(target, (operator, part) => operator.resume(part));
  }
  limit(target: LineTarget, options: LimitOptions): Promise<void> {
    return this.#inParts(target, (operator, part) => operator.limit(part, options));
  }

  /** What the ledger has: failures, audits. Newest first. */
  async ledger(query: LedgerQuery = {}): Promise<LedgerEntries> {
    await this.#ledgerReady();
    return readLedger(this.#engine, query);
  }

  /** What the fleet did lately, and what waits now. */
  stats(query: StatsQuery = {}): Promise<StatsView> {
    return this.#control.stats.read(query);
  }
  /** Why a job is not running: every reason that holds now, with what would end it. */
  why(id: string): Promise<WhyView> {
    return this.#control.why(id);
  }

  /** Does this process do its work? For a readiness probe: it asks nobody and answers at once. */
  health(): Health {
    return this.#own.health(this.#closing !== null);
  }

  /** What this process's own workers do. Returns the way to stop listening. */
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    this.#refuseClosed();
    return this.#engine.events.on(name, listener);
  }

  /** What the store promises. */
  async info(): Promise<StoreInfo> {
    await this.#ready();
    return this.#engine.store.info();
  }

  /** The clock that decides about due times and leases. */
  storeTime(): Promise<Date> {
    return this.tools.ping();
  }

  /** Stops the workers, waits for what is on its way, closes the store. May be called again. */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    checkGrace("close", options);
    this.#closing ??= this.#close(options);
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(options: { readonly graceMs?: number }): Promise<void> {
    try {
      await Promise.all([
        this.#engine.inline?.close(options.graceMs ?? GRACE_MS),
        ...this.#own.all.map((worker) => worker.stop(options)),
      ]);
      await this.gates.close();
    } finally {
      await closeEngine(this.#engine);
    }
  }

  /** Not `async`: to wait here once more was a twentieth of what an enqueue costs. */
  #enqueue(
    target: JobContract | string,
    payload: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<Receipt<unknown, ReceiptStatus>> {
    try {
      refuseInOpenTransaction();
      this.#refuseClosed();
      return this.#engine.producer.enqueue(target, payload, options);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  async #operate<Out>(act: (operator: Operator) => Promise<Out>): Promise<Out> {
    refuseInOpenTransaction();
    await this.#ready();
    return act(this.#engine.operator);
  }

  #inParts(target: LineTarget, act: (operator: Operator, part: LineTarget) => Promise<void>) {
    return this.#operate((one) => this.#control.shards.each(target, (part) => act(one, part)));
  }

  #refuseClosed(): void {
    if (this.#closing) throw new ClosedError("this Holdfast is closed: make a new one");
  }

  /** A ledger elsewhere answers without the store of the jobs. */
  async #ledgerReady(): Promise<void> {
    this.#refuseClosed();
    if (this.#engine.ledgerWriter.home === "store") await this.#ready();
  }

  /** Opens the store once; a failed opening may be tried again. */
  #ready(): Promise<void> {
    this.#refuseClosed();
    this.#engine.spooler?.wake();
    this.#opening ??= openEngine(this.#engine).then(
      () => this.#engine.chores.open(),
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }
}
