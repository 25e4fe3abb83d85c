/** A sync at work: what the application enqueues, and how its jobs run. */
import {
  InvalidOptionError,
  StoreUnavailableError,
  type DueOptions,
  type EnqueueOptions,
  type Holdfast,
  type JobContract,
  type JobItem,
  type Receipt,
  type RunningJob,
  type Worker,
  type WorkOptions,
} from "holdfast";
import { checkWords, nearest } from "../check-words.ts";
import type { SyncSettings } from "./define-sync.ts";
import { Connection } from "./connection.ts";
import { readMonitor, readStats, type SyncMonitor, type SyncStats } from "./monitor.ts";
import type { ClientOf, PayloadOf, SyncOperation } from "./operation.ts";
import { RecordOrder } from "./record-order.ts";
import { runCycle } from "./run-cycle.ts";
import { GUIDANCE, operationOf } from "./staff-alert.ts";

export type SyncEnqueueOptions = DueOptions & {
  /** 1 to 10, lower runs first. Default 5. */
  readonly priority?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly trace?: string | undefined;
  /**
   * A job of its own, also while one of its key has not finished: for a value that went away and came back, or that
   * the waiting one does not bring. Default false: it is that one.
   */
  readonly again?: boolean | undefined;
};

type Answer = Receipt<unknown, "added" | "duplicate" | "ran" | "spooled">;

const OPTIONS = ["priority", "delayMs", "runAt", "tags", "trace", "again"];
const PRIORITY = 5;
const AT_ONCE = 100;

export class Sync<Ops> {
  readonly name: string;
  /** Where its jobs wait. */
  readonly queue: string;
  /** What a worker of this sync works on: `hf.work({ queues: sync.queues })`. */
  readonly queues: readonly string[];
  readonly #hf: Holdfast;
  readonly #settings: SyncSettings<unknown>;
  readonly #contracts = new Map<string, JobContract>();
  readonly #order: RecordOrder;
  readonly #connection: Connection;

  /** @internal Made by `attach`. */
  constructor(hf: Holdfast, settings: SyncSettings<unknown>) {
    const { name, queue, operations, cycles } = settings;
    this.#hf = hf;
    this.#settings = settings;
    this.name = name;
    this.queue = queue;
    this.queues = cycles === null ? [queue] : [`${queue}.cycles`];
    this.#order = new RecordOrder(hf, name);
    this.#connection = new Connection(hf, settings);
    for (const [word, operation] of Object.entries(operations)) this.#define(word, operation);
    this.#defineUpkeep();
  }

  /** Resolves once it is stored. While a job of the same key has not finished, it is that one. */
  async enqueue<Name extends keyof Ops & string>(
    operation: Name,
    payload: PayloadOf<Ops[Name]>,
    options: SyncEnqueueOptions = {},
  ): Promise<Answer> {
    const item = this.item(operation, payload, options);
    const record = this.#recordOf(operation, payload);
    if (record === null) return this.#insert(item, null);
    return this.#order.inLine(record, () => this.#enqueue(item, record));
  }

  /**
   * Many at once, in their order. One that is refused does not spoil the others: its place has the error.
   */
  async enqueueAll(
    items: readonly {
      readonly [Name in keyof Ops & string]: {
        readonly operation: Name;
        readonly payload: PayloadOf<Ops[Name]>;
        readonly options?: SyncEnqueueOptions;
      };
    }[keyof Ops & string][],
  ): Promise<(Answer | { readonly error: Error })[]> {
    const answers: (Answer | { readonly error: Error })[] = [];
    for (let from = 0; from < items.length; from += AT_ONCE) {
      const part = items.slice(from, from + AT_ONCE);
      const asked = part.map(async ({ operation, payload, options }) => {
        try {
          return await this.enqueue(operation, payload, options);
        } catch (error) {
          return { error: error as Error };
        }
      });
      answers.push(...(await Promise.all(asked)));
    }
    return answers;
  }

  /**
   * For `hf.within(tx).enqueueAll([sync.item(…)])`: the job exists exactly if the transaction commits. It has no place
   * in the order of its record before it runs. What a younger job has written by then, it leaves alone.
   */
  item<Name extends keyof Ops & string>(
    operation: Name,
    payload: PayloadOf<Ops[Name]>,
    options: SyncEnqueueOptions = {},
  ): JobItem {
    const { contract, definition } = this.#find(operation);
    checkWords("enqueue", options, OPTIONS);
    const { priority = PRIORITY, again = false, ...rest } = options;
    if (!Number.isInteger(priority) || priority < 1 || priority > 10) {
      throw new InvalidOptionError("priority is a whole number from 1 to 10, and 1 runs first");
    }
    if (typeof again !== "boolean") throw new InvalidOptionError("again is true or false");
    const key = again
      ? undefined
      : this.#ask(operation, payload, (given) => definition.key?.(given));
    const more: EnqueueOptions = {
      ...{ ...rest, priority },
      ...(key !== undefined && { idempotencyKey: key }),
    };
    return contract.of(payload, more) as JobItem;
  }

  /** Its gates, its keeping and, in cycles, its schedule. Called by itself when the first job runs. */
  setup(): Promise<void> {
    return this.#connection.setup();
  }

  /** Makes what the operations need on the other side, now. */
  ensure(signal: AbortSignal = new AbortController().signal): Promise<unknown> {
    return this.#connection.ensure(signal);
  }

  /**
   * The client that operations get, behind the same gates: for calls of your own, in whatever job. What the operations
   * need on the other side is there by then.
   */
  client(): Promise<ClientOf<Ops>> {
    return this.#connection.client() as Promise<ClientOf<Ops>>;
  }

  /** A worker of this sync. */
  async work(options: WorkOptions = {}): Promise<Worker> {
    await this.setup();
    const { cycles } = this.#settings;
    if (cycles !== null) await this.#startCycles(cycles.ensureAfterMs);
    return this.#hf.work({ ...options, queues: options.queues ?? this.queues });
  }

  /** System 4's counts. */
  stats(): Promise<SyncStats> {
    return readStats(this.#hf, this.queue);
  }

  /** System 4's monitor: counts, recent failures, average time, lag. */
  monitor(): Promise<SyncMonitor> {
    return readMonitor(this.#hf, this);
  }

  /** The place comes before the job: what runs first was asked for first, whichever process asked. */
  async #enqueue(item: JobItem, record: string): Promise<Answer> {
    const place = await this.#order.take(record);
    if (place === null) return this.#insert(item, null);
    let receipt: Answer;
    try {
      receipt = await this.#insert(item, place);
    } catch (error) {
      const isDoubtful = error instanceof StoreUnavailableError && error.mayHaveHappened;
      if (!isDoubtful) await this.#order.giveBack(record, place);
      throw error;
    }
    if (receipt.status === "added") await this.#order.name(record, place, receipt.id);
    if (receipt.status === "ran") await this.#order.giveBack(record, place);
    if (receipt.status === "duplicate") {
      await this.#order.giveBack(record, place);
      await this.#order.repeat(record, receipt.id, item.payload);
    }
    return receipt;
  }

  #insert(item: JobItem, place: number | null): Promise<Answer> {
    const { type: _type, payload, contract, ...options } = item;
    const meta = place === null ? undefined : { place };
    return this.#hf.enqueue(contract!, payload, { ...options, meta });
  }

  #define(word: string, operation: SyncOperation<unknown, unknown>): void {
    const { name, queue, retry, classify, scopesUrl } = this.#settings;
    const contract = this.#hf.define({
      ...{ type: `${name}.${word}`, queue, retry, classify, guidance: GUIDANCE },
      ...{ payload: operation.payload, priority: PRIORITY },
      ...{ idempotencyTtlMs: "until-finished", onConflict: "return" },
      ...(scopesUrl !== null && { link: scopesUrl }),
      run: (job) => this.#run(word, job as RunningJob),
    });
    // In cycles a job of the sync leases them, and no worker of its own accord.
    if (this.#settings.cycles !== null) this.#hf.tools.setPlaces(contract.type, []);
    this.#contracts.set(word, contract as unknown as JobContract);
  }

  async #run(word: string, job: RunningJob): Promise<unknown> {
    if (this.#settings.isOff.has(word)) {
      this.#hf.tools.logger.info(`${this.name}: ${word} is switched off; job ${job.id} is skipped`);
      return { skipped: "disabled" };
    }
    await this.setup();
    const operation = this.#settings.operations[word]!;
    const name = operation.record(job.payload);
    const values = operation.writes?.(job.payload) ?? [];
    const turn = await this.#order.begin(name, job, values);
    if (turn.waitMs !== null) return job.snooze(turn.waitMs);
    const { stale } = turn;
    const fresh = values.filter((value) => !stale.has(value));
    if (stale.size > 0) this.#sayStale(word, job, [...stale]);
    if (stale.size > 0 && fresh.length === 0 && operation.leavesMore !== true) {
      return { skipped: "superseded", values };
    }
    return this.#connection.run(word, job, {
      ...{ stale, onDone: () => this.#order.wrote(name, job, fresh) },
    });
  }

  #sayStale(word: string, job: RunningJob, stale: readonly string[]): void {
    this.#hf.tools.logger.info(
      `${this.name}: a newer job has written ${stale.join(", ")}; ${word} ${job.id} leaves that alone`,
      { type: "sync_superseded", jobId: job.id, values: stale },
    );
  }

  /** Jobs of the sync itself: what it ensures, and its cycles. */
  #defineUpkeep(): void {
    const { cycles, classify } = this.#settings;
    if (cycles === null) return;
    const [queue] = this.queues;
    const upkeep = { queue, classify, idempotencyTtlMs: "until-finished" } as const;
    this.#hf.define({
      ...{ ...upkeep, type: `${this.name}.ensure`, retry: { baseMs: 60_000, maxMs: 60_000 } },
      run: ({ signal }) => this.#connection.ensure(signal),
    });
    const cycle = this.#hf.define({
      ...{ ...upkeep, type: `${this.name}.cycle`, retry: { maxAttempts: 1 } },
      run: async ({ signal }) => {
        await this.setup();
        return runCycle(this.#hf, { queue: this.queue, jobs: cycles.jobs, signal });
      },
    });
    this.#hf.schedule(`${this.name}.cycle`, {
      ...{ everyMs: cycles.everyMs, startAfterMs: cycles.startAfterMs, missed: "once" },
      job: cycle.of(null),
    });
  }

  async #startCycles(ensureAfterMs: number): Promise<void> {
    if (this.#settings.ensure === null) return;
    const idempotencyKey = `${this.name}.ensure`;
    await this.#hf.enqueue(`${this.name}.ensure`, null, { idempotencyKey, delayMs: ensureAfterMs });
  }

  #find(operation: string): {
    readonly contract: JobContract;
    readonly definition: SyncOperation<unknown, unknown>;
  } {
    const { operations } = this.#settings;
    const contract = this.#contracts.get(operation);
    if (contract) return { contract, definition: operations[operation]! };
    const near = nearest(String(operation), Object.keys(operations));
    throw new InvalidOptionError(
      `${this.name} has no operation "${operation}": ` +
        (near === null
          ? `it has ${Object.keys(operations).join(", ")}`
          : `did you mean "${near}"?`),
    );
  }

  #recordOf(operation: string, payload: unknown): string | null {
    const { definition } = this.#find(operation);
    return this.#ask(operation, payload, (given) => definition.record(given)) ?? null;
  }

  /** Of a payload that does not fit its schema nothing is known: the enqueue refuses it, with the field named. */
  #ask<Out>(operation: string, payload: unknown, ask: (payload: unknown) => Out): Out | undefined {
    const { definition } = this.#find(operation);
    const judged = definition.payload["~standard"].validate(payload);
    if (judged instanceof Promise || judged.issues) return undefined;
    return ask(judged.value);
  }

  /** @internal */
  operationOf(type: string): string {
    return operationOf(type, this.name);
  }
}
