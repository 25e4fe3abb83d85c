/** What a test may ask for at once, without waiting: noted while it goes through the store. */
import type { NewJob } from "../core/job.ts";
import { decodeJson } from "../core/json-text.ts";
import { SCHEDULES } from "../core/schedule.ts";
import type { ScheduleState, TickState } from "../core/schedule.ts";
import type { Changes, Settlement, Store } from "../core/store.ts";

/** What was enqueued, for assertions. */
export interface EnqueuedJob<Payload = unknown> {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly group: string | null;
  readonly payload: Payload;
  readonly priority: number;
  readonly delayMs: number;
  readonly runAt: Date | null;
  readonly maxAttempts: number;
  readonly idempotencyKey: string | null;
  readonly tags: readonly string[];
}

export interface DeadLetter<Payload = unknown> {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly payload: Payload;
  /** Why it is dead: `failed`, `permanent`, `validation`, … */
  readonly reason: string;
  readonly category: string;
  readonly message: string;
}

export interface TickedSchedule {
  readonly schedule: string;
  readonly tick: Date;
  readonly state: TickState;
  /** The id of its job; null if it made none. */
  readonly job: string | null;
}

export class Notes {
  readonly added: EnqueuedJob[] = [];
  readonly ticks: TickedSchedule[] = [];
  readonly #ticked = new Set<string>();
  readonly #dead = new Map<string, DeadLetter>();
  readonly #byId = new Map<string, NewJob>();

  get dead(): DeadLetter[] {
    return [...this.#dead.values()];
  }

  /** `moved`: something happened, so a drain is not stuck. */
  watch(store: Store, moved: () => void): Store {
    const { records } = store;
    const noted =
      <Args extends unknown[]>(act: (...args: Args) => Promise<Changes>) =>
      async (...args: Args) => {
        const changes = await act(...args);
        for (const { id, result } of changes.changes) if (result === "done") this.#dead.delete(id);
        return changes;
      };
    return {
      ...store,
      insert: async (jobs, options) => {
        const results = await store.insert(jobs, options);
        results.forEach((result, at) => {
          if (result.outcome === "added") this.#add(jobs[at]!);
        });
        moved();
        return results;
      },
      lease: async (request) => {
        const leased = await store.lease(request);
        if (leased.jobs.length > 0) moved();
        return leased;
      },
      renew: async (renewals, leaseMs) => {
        // A step, a checkpoint, progress: the handler goes on.
        if (renewals.some(({ updates }) => updates !== undefined)) moved();
        return store.renew(renewals, leaseMs);
      },
      settle: async (settlements) => {
        const results = await store.settle(settlements);
        results.forEach((result, at) => {
          if (result === "settled") this.#settled(settlements[at]!);
        });
        moved();
        return results;
      },
      revive: noted(store.revive),
      remove: noted(store.remove),
      prune: async (policies, limit) => {
        const pruned = await store.prune(policies, limit);
        if (pruned > 0) await this.#forgetPruned(store);
        return pruned;
      },
      records: {
        ...records,
        swap: async (swaps) => {
          const results = await records.swap(swaps);
          results.forEach((result, at) => {
            const { key, value } = swaps[at]!;
            if (result.swapped && value !== null && key.startsWith(SCHEDULES)) {
              this.#schedule(JSON.parse(value) as ScheduleState);
            }
          });
          return results;
        },
      },
    };
  }

  #add(job: NewJob): void {
    this.#byId.set(job.id, job);
    this.added.push(enqueuedJob(job));
  }

  #settled({ id, outcome, spawn = [] }: Settlement): void {
    spawn.forEach((job) => this.#add(job));
    const job = this.#byId.get(id);
    if (outcome.kind !== "die" || !job) return;
    const { type, queue, payload } = job;
    const { category, message } = outcome.failure;
    this.#dead.set(id, {
      ...{ id, type, queue, payload: decodeJson(payload), reason: outcome.reason },
      ...{ category, message },
    });
  }

  /** A tick is decided when it is claimed, and stays so. */
  #schedule({ name, claim }: ScheduleState): void {
    for (const { at, state, jobId } of claim?.ticks ?? []) {
      const key = `${name} ${at}`;
      if (this.#ticked.has(key)) continue;
      this.#ticked.add(key);
      this.ticks.push({ schedule: name, tick: new Date(at), state, job: jobId });
    }
  }

  async #forgetPruned(store: Store): Promise<void> {
    const ids = [...this.#dead.keys()];
    const found = await store.get(ids.map((id) => ({ id })));
    found.forEach((job, at) => {
      if (job === null || job === "pruned") this.#dead.delete(ids[at]!);
    });
  }
}

function enqueuedJob(job: NewJob): EnqueuedJob {
  return {
    id: job.id,
    type: job.type,
    queue: job.queue,
    group: job.group || null,
    payload: decodeJson(job.payload),
    priority: job.priority,
    delayMs: job.delayMs,
    runAt: job.runAt === null ? null : new Date(job.runAt),
    maxAttempts: job.maxAttempts,
    idempotencyKey: job.dedupe?.key ?? null,
    tags: job.tags,
  };
}
