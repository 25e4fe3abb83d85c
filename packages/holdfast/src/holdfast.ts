/** The front door: one object that enqueues, runs, looks and steers. Each part has its own file. */
import { ALERTS_QUEUE } from "./core/alert.ts";
import {
  defineJob,
  type EnqueueOptions,
  type JobContract,
  type JobItem,
  type JobOptions,
} from "./core/contract.ts";
import { ClosedError, InvalidOptionError } from "./core/errors.ts";
import { checkGrace, checkObject } from "./core/option-checks.ts";
import { checkAlerts } from "./control/alerts/alert-options.ts";
import { Alerts } from "./control/alerts/alerts.ts";
import { archiveDead } from "./control/archive/archive-dead.ts";
import { DeadLetters } from "./control/dead-letters/dead-letters.ts";
import { Failures } from "./control/failures/failures.ts";
import { retryJob } from "./control/failures/retry-job.ts";
import { failureEntries } from "./control/failures/failure-entries.ts";
import { Gates } from "./control/gates/gates.ts";
import { Locks } from "./control/locks/locks.ts";
import { operationsExtension } from "./control/operations/carry-on.ts";
import { Operations, type Operation } from "./control/operations/operations.ts";
import { Overflows } from "./control/overflow/overflow.ts";
import { Queues } from "./control/queues/queues.ts";
import { Schedules, type ScheduleOptions } from "./control/schedules/schedules.ts";
import { AppRecords } from "./control/records/app-records.ts";
import { statsExtension } from "./control/stats/stats-extension.ts";
import { Stats, type StatsQuery, type StatsView } from "./control/stats/stats.ts";
import { Workers } from "./control/workers/workers.ts";
import type { StandardSchema } from "./core/standard-schema.ts";
import type { StoreInfo } from "./core/store.ts";
import { checkNode } from "./engine/check-node.ts";
import { refuseInOpenTransaction } from "./engine/run/current-attempt.ts";
import type { EventListener, EventName } from "./engine/events.ts";
import { healthOf, type Health } from "./engine/operate/health.ts";
import { checkHoldfastOptions, checkLockDefaults } from "./holdfast-options.ts";
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
import { closeEngine, createEngine, extend, type Engine } from "./engine/create-engine.ts";
import type { EnqueueAnswer, Receipt, ReceiptStatus } from "./engine/produce/producer.ts";
import { producerWithin } from "./engine/produce/producer-within.ts";
import type { Handler } from "./engine/registry.ts";
import type { RunningJob } from "./engine/run/running-job.ts";
import { waitAtMost } from "./engine/runtime.ts";
import type {
  AnyContract,
  ContractOf,
  Defined,
  DefinedJob,
  DefineOptions,
  InputOf,
  OutputOf,
  ResultOf,
  ReturnedOf,
  RunReturns,
  TypeOf,
} from "./engine/typed-jobs.ts";
import {
  checkWorkOptions,
  withDefaults,
  type WorkOptions,
  type WorkSettings,
} from "./engine/lease/work-options.ts";
import { Worker } from "./engine/lease/worker.ts";
import { useMiddleware, type Middleware } from "./middleware.ts";
import { RELAY, RELAY_TO_LEDGER } from "./engine/settle/relay.ts";
import { toolsOf, type Tools } from "./tools.ts";

export type { HoldfastOptions } from "./holdfast-options.ts";

/** How long `close` waits for jobs that run in their callers, unless told otherwise. */
const GRACE_MS = 10_000;
/** How long a stop waits until the fleet has heard of it. */
const LAST_BEAT_MS = 1_000;
/** Beside every user's own worker: slow receivers take none of its slots. Wakeups tell it of new ones; retries wait. */
const NOTIFIER = { queues: [ALERTS_QUEUE], concurrency: 4, pollMs: 10_000 };

export class Holdfast<
  const Jobs extends readonly AnyContract[] = readonly [],
  const How extends Resilience | undefined = undefined,
> {
  readonly #engine: Engine;
  readonly #workers = new Set<Worker>();
  /** Delivers alerts, while this process has a worker and somebody to tell. */
  #notifier: Promise<Worker> | null = null;
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
  readonly #stats: Stats;
  /** What servers and command lines need besides. */
  readonly tools: Tools;
  #opening: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: HoldfastOptions<Jobs, How>) {
    checkNode();
    const checked = checkHoldfastOptions(options);
    this.#engine = createEngine(checked, () => this.#ready());
    const { ledgerWriter, hasStore } = this.#engine;
    const host = async () => (await this.#ready(), this.#engine.host);
    const hasLedger = ledgerWriter.home !== "nowhere";
    const has = { store: checked.hasStore, ledger: hasLedger };
    this.alerts = new Alerts(checkAlerts(options.alerts, has), host);
    const stopped = this.alerts.operationStopped.bind(this.alerts);
    const { appVersion } = checked;
    this.schedules = new Schedules(host, { engine: this.#engine.host, appVersion });
    const overflows = new Overflows(this.#engine.host);
    this.gates = new Gates(this.#engine.host, () => this.#opening ?? this.#ready());
    this.locks = new Locks(this.#engine, () => this.#ready(), checkLockDefaults(options.lock));
    const counting = hasStore && checked.stats ? statsExtension(this.#engine.host) : null;
    extend(this.#engine, [
      ...(hasLedger ? [failureEntries] : []),
      ...(checked.hasStore ? [this.alerts.extension] : []),
      (own) => operationsExtension(own, { stopped }),
      () => this.schedules.extension,
      () => overflows.extension,
      // A job that a gate holds back takes no lock.
      () => this.gates.extension,
      () => this.locks.keeper,
      ...(options.archive ? [archiveDead(options.archive)] : []),
      ...(counting ? [() => counting] : []),
      ...(options.extensions ?? []),
    ]);
    const { maxPayloadBytes } = checked;
    this.tools = toolsOf(this.#engine, { ready: () => this.#ready(), maxPayloadBytes });
    this.workers = new Workers(host);
    this.queues = new Queues(host, overflows);
    this.operations = new Operations(host);
    this.deadLetters = new DeadLetters(host, { ...checked, operations: this.operations });
    this.records = new AppRecords(async () => (refuseInOpenTransaction(), await host()).records);
    this.#stats = new Stats({
      ...{ ready: () => this.#ready(), host: this.#engine.host, ledgerHome: ledgerWriter.home },
      store: async () => counting?.store(),
    });
    this.failures = new Failures(async () => (await this.#ledgerReady(), this.#engine.host), host);
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
    checkObject("what hf.define takes", given);
    const { run, ...options } = given;
    if (typeof run !== "function") {
      throw new InvalidOptionError("hf.define needs run(job) { … }; a contract alone is defineJob");
    }
    const defined: DefinedJob<string, unknown, unknown, unknown, ReceiptStatus> = {
      ...(defineJob(options as JobOptions<string, undefined>) as JobContract),
      enqueue: (payload, enqueueOptions) => this.#enqueue(defined, payload, enqueueOptions),
      of: (payload, itemOptions) => ({
        ...itemOptions,
        type: defined.type,
        payload,
        contract: defined,
      }),
    };
    this.#engine.registry.addHandler(defined, run as Handler);
    return defined;
  }

  /** The handler of a contract that was defined elsewhere, or of a type by its name. */
  handle<Contract extends AnyContract>(
    contract: Contract,
    handler: Handler<OutputOf<Contract>, ReturnedOf<Contract>>,
  ): this;
  handle(type: string, handler: Handler): this;
  handle(target: AnyContract | string, handler: (job: RunningJob<never, never>) => unknown): this {
    if (typeof handler !== "function") {
      throw new InvalidOptionError(
        "hf.handle needs a function: hf.handle(contract, async (job) => { … })",
      );
    }
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
  async enqueueAll(items: readonly JobItem[]): Promise<EnqueueAnswer<unknown, StatusOf<How>>[]> {
    refuseInOpenTransaction();
    this.#refuseClosed();
    const answers = await this.#engine.producer.enqueueAll(items);
    return answers as EnqueueAnswer<unknown, StatusOf<How>>[];
  }

  /** The same inside the caller's own transaction: the job exists exactly if it commits. */
  within(tx: unknown): Pick<Holdfast<Jobs>, "enqueue" | "enqueueAll"> {
    this.#refuseClosed();
    const producer = producerWithin(this.#engine, tx, () => this.#ready());
    return {
      enqueue: (target: AnyContract | string, payload: unknown, options?: EnqueueOptions) =>
        producer.enqueue(target as JobContract | string, payload, options),
      enqueueAll: (items) => producer.enqueueAll(items),
    } as Pick<Holdfast<Jobs>, "enqueue" | "enqueueAll">;
  }

  /** Starts a worker; resolves when it is claiming. */
  async work(options: WorkOptions = {}): Promise<Worker> {
    const { registry, work } = this.#engine;
    const checked = checkWorkOptions(withDefaults(options, work), registry.handledQueues());
    // Where there is no store, this says so.
    await this.info();
    const worker = await this.#start(checked);
    const isTaken = checked.queues.has(ALERTS_QUEUE) || this.#notifier !== null;
    if (this.alerts.delivers && !isTaken) {
      this.#notifier = this.#start(checkWorkOptions(NOTIFIER, []));
      await this.#notifier;
    }
    return worker;
  }

  async #start(checked: WorkSettings): Promise<Worker> {
    const { composer, chores, fleet, logger, settings } = this.#engine;
    const worker = new Worker(
      {
        ...this.#engine,
        compose: async (target, payload, enqueueOptions) =>
          (await composer.compose(target, payload, enqueueOptions)).job,
        onOutbox: () => {
          for (const chore of [RELAY, RELAY_TO_LEDGER]) chores.soon(chore);
        },
        onStopped: (stopped) => this.#forget(stopped),
      },
      checked,
    );
    this.#workers.add(worker);
    // A store that is away is no reason not to work once it is back.
    const joined = fleet
      .join(worker)
      .then(() => settings.obey())
      .then(() => this.schedules.reconcile());
    await joined.catch((error: unknown) => {
      logger.warn("the record of this process could not be written yet", { error });
    });
    chores.working(true);
    await worker.start();
    return worker;
  }

  /** Around every handler, and beside every event of this process. Returns the way to stop it. */
  use(middleware: Middleware): () => void {
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
    return this.#operate((operator) => operator.pause(target, options));
  }
  resume(target: LineTarget): Promise<void> {
    return this.#operate((operator) => operator.resume(target));
  }
  limit(target: LineTarget, options: LimitOptions): Promise<void> {
    return this.#operate((operator) => operator.limit(target, options));
  }

  /** What the ledger has: failures, audits. Newest first. */
  async ledger(query: LedgerQuery = {}): Promise<LedgerEntries> {
    await this.#ledgerReady();
    return readLedger(this.#engine, query);
  }

  /** What the fleet did lately, and what waits now. */
  stats(query: StatsQuery = {}): Promise<StatsView> {
    return this.#stats.read(query);
  }

  /** Does this process do its work? For a readiness probe: it asks nobody and answers at once. */
  health(): Health {
    const { hasStore, watched, ledgerWriter, spooler } = this.#engine;
    return healthOf({
      workers: [...this.#workers].flatMap((worker) => worker.health ?? []),
      // Without a store nobody is away.
      store: hasStore ? watched.lastAnswer : null,
      ledger: ledgerWriter.home === "elsewhere" ? ledgerWriter.lastAnswer : null,
      spooled: spooler?.size ?? null,
      isClosed: this.#closing !== null,
    });
  }

  /** What this process's own workers do. Returns the way to stop listening. */
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    return this.#engine.events.on(name, listener);
  }

  /** What the store promises. */
  async info(): Promise<StoreInfo> {
    await this.#ready();
    return this.#engine.store.info();
  }

  /** The clock that decides about due times and leases. */
  async storeTime(): Promise<Date> {
    await this.#ready();
    return new Date(await this.#engine.store.now());
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
    await Promise.all([
      this.#engine.inline?.close(options.graceMs ?? GRACE_MS),
      ...[...this.#workers].map((worker) => worker.stop(options)),
    ]);
    await this.gates.close();
    await closeEngine(this.#engine);
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
    this.#opening ??= this.#engine.store.open().then(
      () => this.#engine.chores.open(),
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }

  /** It works for as long as another worker does. */
  async #stopNotifier(stopped: Worker): Promise<void> {
    const notifier = await this.#notifier;
    if (notifier === null || notifier === stopped) return;
    if ([...this.#workers].some((worker) => worker !== notifier)) return;
    this.#notifier = null;
    await notifier.stop();
  }

  /** It has stopped: the fleet is told, and nothing here remembers it. */
  async #forget(worker: Worker): Promise<void> {
    const { fleet, chores, runtime } = this.#engine;
    this.#workers.delete(worker);
    fleet.leave(worker);
    if (this.#workers.size === 0) chores.working(false);
    await this.#stopNotifier(worker);
    // If this is not heard, its record is gone in twenty seconds.
    const beat = fleet.beat().catch(() => {});
    await waitAtMost(runtime, beat, LAST_BEAT_MS);
  }
}
