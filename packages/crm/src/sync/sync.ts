/** A sync at work: what the application enqueues, and how its jobs run. */
import {
  InvalidOptionError,
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
import type { PayloadOf, SyncOperation } from "./operation.ts";
import { RecordOrder, type Place } from "./record-order.ts";
import { runCycle } from "./run-cycle.ts";
import { GUIDANCE, operationOf } from "./staff-alert.ts";

export interface SyncEnqueueOptions {
  /** 1 to 10, lower runs first. Default 5. */
  readonly priority?: number | undefined;
  readonly delayMs?: number | undefined;
  readonly runAt?: Date | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly trace?: string | undefined;
}

type Answer = Receipt<unknown, "added" | "duplicate" | "ran" | "spooled">;

const OPTIONS = ["priority", "delayMs", "runAt", "tags", "trace"];
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
    if (record === null) return this.#enqueue(item, null);
    return this.#order.inLine(record, async () => {
      const [place] = await this.#order.places([record]);
      return this.#enqueue(item, place ?? null);
    });
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
   * For `hf.within(tx).enqueueAll([sync.item(…)])`: the job exists exactly if the transaction commits. It waits by
   * priority and age alone, as which job came before it is not known yet.
   */
  item<Name extends keyof Ops & string>(
    operation: Name,
    payload: PayloadOf<Ops[Name]>,
    options: SyncEnqueueOptions = {},
  ): JobItem {
    const { contract, definition } = this.#find(operation);
    checkWords("enqueue", options, OPTIONS);
    const { priority = PRIORITY, delayMs, runAt, tags, trace } = options;
    if (!Number.isInteger(priority) || priority < 1 || priority > 10) {
      throw new InvalidOptionError("priority is a whole number from 1 to 10, and 1 runs first");
    }
    const key = this.#ask(operation, payload, (given) => definition.key?.(given));
    const more: EnqueueOptions = {
      ...{ priority, delayMs, runAt, tags, trace },
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

  async #enqueue(item: JobItem, place: Place | null): Promise<Answer> {
    const { type: _type, payload, contract, ...options } = item;
    const after = place?.after ?? [];
    const meta = after.length === 0 ? undefined : { after };
    const receipt: Answer = await this.#hf.enqueue(contract!, payload, { ...options, meta });
    const isNew = receipt.status === "added";
    if (place !== null && (isNew || receipt.status === "duplicate")) {
      await this.#order.take(place, receipt.id, { isNew });
    }
    return receipt;
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
    this.#contracts.set(word, contract as unknown as JobContract);
  }

  async #run(word: string, job: RunningJob): Promise<unknown> {
    if (this.#settings.isOff.has(word)) {
      this.#hf.tools.logger.info(`${this.name}: ${word} is switched off; job ${job.id} is skipped`);
      return { skipped: "disabled" };
    }
    await this.setup();
    const waitMs = await this.#order.waitMs(job);
    if (waitMs !== null) return job.snooze(waitMs);
    return this.#connection.run(word, job);
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
