/**
 * Gives the jobs of queues that age their place in line, on their way to the store: those that are enqueued, those
 * that are spawned, those of a caller's transaction.
 *
 * The settings of all such queues are one record. It is read when the store is opened, behind inserts (every five
 * seconds at most) and when the fleet hears of a change; no insert waits for it. But what is known of a queue that
 * ages is never older than a minute. How far a queue is follows from the time, so a process that slept for a day
 * and knows the setting knows the place.
 */
import { agingSteps, changedAging, placedJob, type Aging } from "../core/aging.ts";
import type { NewJob } from "../core/job.ts";
import { NewestAnswer } from "../core/newest-answer.ts";
import type { Settlement, Store, WithinTransaction } from "../core/store.ts";
import type { Runtime } from "./runtime.ts";

const KEY = "holdfast/aging";
const LOOK_MS = 5_000;
const OLDEST_MS = 60_000;

interface Stored {
  readonly queues: Readonly<Record<string, Aging>>;
  /** Of its writer: tells a lost reply from a lost race. */
  readonly mark: string;
}

export class AgingQueues {
  /** The same store; what is inserted through it has its place. */
  readonly store: Store;
  readonly #inner: Store;
  readonly #runtime: Runtime;
  readonly #newest = new NewestAnswer();
  #queues: ReadonlyMap<string, Aging> = new Map();
  #lookedAt = -Infinity;
  #knownAt = -Infinity;
  /** The store's clock, less the monotonic one. */
  #aheadMs = 0;
  /** The last look; it does not fail. */
  #looking = Promise.resolve();

  constructor(store: Store, runtime: Runtime) {
    this.#inner = store;
    this.#runtime = runtime;
    this.store = this.#around(store);
  }

  /** Null: this queue does not age. */
  async of(queue: string): Promise<number | null> {
    await this.#read();
    return this.#queues.get(queue)?.everyMs ?? null;
  }

  async set(queue: string, everyMs: number | null): Promise<void> {
    const { records } = this.#inner;
    for (;;) {
      const [found] = await records.read([KEY]);
      const queues = found ? (JSON.parse(found.value) as Stored).queues : {};
      const aging = changedAging(queues[queue] ?? null, everyMs, await this.#inner.now());
      if (aging === null) return;
      const after: Stored = { queues: { ...queues, [queue]: aging }, mark: this.#runtime.id() };
      const value = JSON.stringify(after);
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key: KEY, expect, value, ttlMs: null }]);
      const isOwn = result?.swapped === false && result.current?.value === value;
      if (!result?.swapped && !isOwn) continue;
      return this.#read();
    }
  }

  /** Something changed: it is read again behind the next insert. */
  forget(): void {
    this.#lookedAt = Math.min(this.#lookedAt, this.#runtime.monotonic() - LOOK_MS);
  }

  #around(store: Store): Store {
    const placed = (jobs: readonly NewJob[]) => this.#placed(jobs);
    const settled = (settlements: readonly Settlement[]) => this.#settled(settlements);
    return {
      ...store,
      open: async () => {
        await store.open();
        // Behind an insert it is tried again.
        await this.#read().catch(() => {});
      },
      insert: (jobs, how) => {
        const waited = this.#known(jobs);
        if (waited === null) return store.insert(placed(jobs), how);
        return waited.then(() => store.insert(placed(jobs), how));
      },
      settle: (settlements) => store.settle(settled(settlements)),
      get within() {
        const { within } = store;
        if (!within) return undefined;
        return (tx: unknown) => {
          const inside = within.call(store, tx);
          return {
            insert: (jobs, how) => inside.insert(placed(jobs), how),
            settle: (settlements) => inside.settle(settled(settlements)),
            ...(inside.get && { get: (refs) => inside.get!(refs) }),
            isOpen: () => inside.isOpen(),
          } satisfies WithinTransaction;
        };
      },
    } as Store;
  }

  /** Null: it is; else when it is. */
  #known(jobs: readonly NewJob[]): Promise<void> | null {
    const now = this.#runtime.monotonic();
    if (now - this.#lookedAt >= LOOK_MS) this.#look();
    const isOld = now - this.#knownAt >= OLDEST_MS;
    return isOld && jobs.some(({ queue }) => this.#queues.has(queue)) ? this.#looking : null;
  }

  #look(): void {
    this.#looking = this.#read().catch(() => {
      // Else every insert would wait for as long as it cannot be read.
      this.#knownAt = this.#runtime.monotonic();
    });
  }

  #placed(jobs: readonly NewJob[]): readonly NewJob[] {
    if (this.#queues.size === 0) return jobs;
    const now = this.#runtime.monotonic() + this.#aheadMs;
    return jobs.map((job) => {
      const aging = this.#queues.get(job.queue);
      return aging ? placedJob(job, agingSteps(aging, now)) : job;
    });
  }

  #settled(settlements: readonly Settlement[]): readonly Settlement[] {
    if (this.#queues.size === 0) return settlements;
    return settlements.map(({ spawn, ...rest }) =>
      spawn ? { ...rest, spawn: this.#placed(spawn) } : rest,
    );
  }

  async #read(): Promise<void> {
    const isNews = this.#newest.ask();
    this.#lookedAt = this.#runtime.monotonic();
    const [found] = await this.#inner.records.read([KEY]);
    const aheadMs = found ? (await this.#inner.now()) - this.#runtime.monotonic() : 0;
    if (!isNews()) return;
    this.#queues = new Map(Object.entries(found ? (JSON.parse(found.value) as Stored).queues : {}));
    this.#aheadMs = aheadMs;
    this.#knownAt = this.#runtime.monotonic();
  }
}
