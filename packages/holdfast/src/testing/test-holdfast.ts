/**
 * Holdfast for a user's own tests: the real engine on the memory store and on virtual time. Nothing
 * runs until `drain()`, nothing waits, and a day passes in a moment.
 */
import { DrainTimeoutError } from "../core/errors.ts";
import type { JobContract } from "../core/contract.ts";
import type { NewJob } from "../core/job.ts";
import { decodeJson } from "../core/json-text.ts";
import type { Store } from "../core/store.ts";
import { Holdfast, type HoldfastOptions } from "../holdfast.ts";
import type { AnyContract, InputOf } from "../engine/typed-jobs.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface TestHoldfastOptions<Jobs extends readonly AnyContract[]> extends Omit<
  HoldfastOptions<Jobs>,
  "store" | "runtime"
> {
  /** Chance (jitter, ids) from another seed. */
  readonly seed?: number;
  /** How long real time may pass while handlers run, before `drain` says which hang. Default 5 s. */
  readonly patienceMs?: number;
}

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

export interface TestHoldfast<Jobs extends readonly AnyContract[]> {
  readonly hf: Holdfast<Jobs>;
  /** Virtual time, in milliseconds since the epoch. */
  now(): number;
  /** Moves time on. Jobs that become due run at the next `drain()`. */
  advance(ms: number): Promise<void>;
  /** Runs every job that is due, and what those spawn, until nothing is left to do now. */
  drain(): Promise<void>;
  /** All jobs added so far, or those of one contract or type, oldest first. */
  enqueued<Contract extends AnyContract>(contract: Contract): EnqueuedJob<InputOf<Contract>>[];
  enqueued(type?: string): EnqueuedJob[];
}

export function testHoldfast<const Jobs extends readonly AnyContract[] = readonly []>(
  options: TestHoldfastOptions<Jobs> = {},
): TestHoldfast<Jobs> {
  const { seed = 1, patienceMs = 5_000, ...rest } = options;
  const time = new VirtualTime({ seed });
  const added: EnqueuedJob[] = [];
  const store = noting(memoryStore({ now: () => time.now }), (job) => added.push(enqueuedJob(job)));
  // Only time is virtual: what a caller awaits must go on without anyone turning a wheel.
  const runtime = {
    ...time.runtime(),
    defer: (callback: () => void) => void setImmediate(callback),
  };
  const hf = new Holdfast<Jobs>({ ...rest, store, runtime } as HoldfastOptions<Jobs>);

  return {
    hf,
    now: () => time.now,
    advance: (ms) => time.advance(ms),
    drain: () => drain(hf, store, { time, patienceMs }),
    enqueued: (target?: JobContract | string) => {
      const type = typeof target === "object" ? target.type : target;
      return type === undefined ? [...added] : added.filter((job) => job.type === type);
    },
  } as TestHoldfast<Jobs>;
}

async function drain(
  hf: Holdfast<readonly AnyContract[]>,
  store: Store,
  options: { readonly time: VirtualTime; readonly patienceMs: number },
): Promise<void> {
  const { time, patienceMs } = options;
  await hf.info();
  const queues = (await store.count()).map(({ queue }) => queue);
  if (queues.length === 0) return;
  const worker = await hf.work({ queues });
  const deadline = performance.now() + patienceMs;
  // Twice idle in a row: a wakeup may have been on its way the first time.
  for (let idleTurns = 0; idleTurns < 2; idleTurns = worker.isIdle ? idleTurns + 1 : 0) {
    await time.settle();
    if (worker.running.length > 0 && performance.now() > deadline) {
      const types = [...new Set(worker.running.map(({ type }) => type))].join(", ");
      throw new DrainTimeoutError(
        `handlers of ${types} did not end within ${patienceMs} ms of real time: await everything they start, or raise patienceMs`,
      );
    }
  }
  await worker.stop({ graceMs: 0 });
  const more = (await store.count()).map(({ queue }) => queue);
  if (more.some((queue) => !queues.includes(queue))) await drain(hf, store, options);
}

/** Every job the store took, spawned ones included. */
function noting(store: Store, note: (job: NewJob) => void): Store {
  return {
    ...store,
    async insert(jobs, options) {
      const results = await store.insert(jobs, options);
      results.forEach((result, at) => {
        if (result.outcome === "added") note(jobs[at]!);
      });
      return results;
    },
    async settle(settlements) {
      const results = await store.settle(settlements);
      results.forEach((result, at) => {
        if (result === "settled") settlements[at]!.spawn?.forEach(note);
      });
      return results;
    },
  };
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
