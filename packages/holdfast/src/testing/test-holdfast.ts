/**
 * Holdfast for a user's own tests: the real engine on the memory store and on virtual time. Nothing
 * runs until `drain()`, nothing waits, and a day passes in a moment.
 */
import type { Alert } from "../core/alert.ts";
import { checkTarget, type JobContract } from "../core/contract.ts";
import type { NewJob } from "../core/job.ts";
import { decodeJson } from "../core/json-text.ts";
import { checkNumber, checkOptions, checkWhole, MAX_DURATION_MS } from "../core/option-checks.ts";
import type { Store } from "../core/store.ts";
import { Holdfast, type HoldfastOptions } from "../holdfast.ts";
import type { AnyContract, InputOf } from "../engine/typed-jobs.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { Drains, type AnyHoldfast } from "./drains.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface TestHoldfastOptions<Jobs extends readonly AnyContract[]> extends Omit<
  HoldfastOptions<Jobs>,
  "store" | "runtime"
> {
  /** Chance (jitter, ids) from another seed. */
  readonly seed?: number;
  /** How much real time may pass without any progress, before `drain` says what it waits for. Default 2 s. */
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
  /**
   * Moves time on. Jobs that become due run at the next `drain()`. While a drain is under way, it first lets
   * that start what is due, so that timeouts of running handlers come to their end.
   */
  advance(ms: number): Promise<void>;
  /** Runs every job that is due, and what those spawn, until nothing runs and nothing is left to do now. */
  drain(): Promise<void>;
  /** All jobs added so far, or those of one contract or type, oldest first. */
  enqueued<Contract extends AnyContract>(contract: Contract): EnqueuedJob<InputOf<Contract>>[];
  enqueued(type?: string): EnqueuedJob[];
  /** What was raised so far, oldest first. Dead jobs are among it once `alerts` is given. */
  alerts(): Alert[];
}

const OPTIONS = [
  ...["seed", "patienceMs", "jobs", "ledger", "resilient", "logger", "retention"],
  ...["maxPayloadBytes", "appVersion", "redact", "alerts", "extensions"],
];

export function testHoldfast<const Jobs extends readonly AnyContract[] = readonly []>(
  options: TestHoldfastOptions<Jobs> = {},
): TestHoldfast<Jobs> {
  checkOptions("testHoldfast", options, OPTIONS);
  const { seed = 1, patienceMs = 2_000, ...rest } = options;
  checkWhole("patienceMs", patienceMs, { min: 1, max: MAX_DURATION_MS });
  checkWhole("seed", seed, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const time = new VirtualTime({ seed });
  const added: EnqueuedJob[] = [];
  const store = noting(memoryStore({ now: () => time.now }), {
    added: (job) => void added.push(enqueuedJob(job)),
    moved: () => drains.moved(),
  });
  // Only time is virtual: what a caller awaits must go on without anyone turning a wheel.
  const runtime = {
    ...time.runtime(),
    defer: (callback: () => void) => void setImmediate(callback),
  };
  const hf = new Holdfast<Jobs>({ ...rest, store, runtime } as HoldfastOptions<Jobs>);
  const drains = new Drains({ hf, store, time, patienceMs });
  closeInVirtualTime(hf, time);
  const alerts: Alert[] = [];
  hf.on("alert", (alert) => void alerts.push(alert));

  return {
    hf,
    now: () => time.now,
    advance: async (ms) => {
      checkNumber("what advance takes", ms, { min: 0, max: MAX_DURATION_MS });
      // A drain that is under way starts what is due first: its handlers live through the time that passes.
      await drains.standStill();
      await time.advance(ms);
    },
    drain: () => drains.drain(),
    alerts: () => [...alerts],
    enqueued: (target?: JobContract | string) => {
      if (target === undefined) return [...added];
      const given = checkTarget("enqueued", target);
      const type = typeof given === "string" ? given : given.type;
      return added.filter((job) => job.type === type);
    },
  } as TestHoldfast<Jobs>;
}

/**
 * A close waits for running handlers in virtual time, which only a test moves: with a handler that hangs it
 * would wait for ever. So time moves on by itself while it closes.
 */
function closeInVirtualTime(hf: AnyHoldfast, time: VirtualTime): void {
  const close = hf.close.bind(hf);
  hf.close = async (options) => {
    let isClosed = false;
    const closing = close(options).finally(() => (isClosed = true));
    // Heard of below.
    closing.catch(() => {});
    for (let turns = 0; !isClosed; turns += 1) {
      await time.settle();
      // A few turns for handlers that end by themselves.
      if (!isClosed && turns > 10) time.moveToNextTimer();
    }
    await closing;
  };
}

/** Every job the store took, spawned ones included; and whether anything moves. */
function noting(
  store: Store,
  { added, moved }: { readonly added: (job: NewJob) => void; readonly moved: () => void },
): Store {
  return {
    ...store,
    async insert(jobs, options) {
      const results = await store.insert(jobs, options);
      results.forEach((result, at) => {
        if (result.outcome === "added") added(jobs[at]!);
      });
      moved();
      return results;
    },
    async lease(request) {
      const leased = await store.lease(request);
      if (leased.jobs.length > 0) moved();
      return leased;
    },
    async renew(renewals, leaseMs) {
      // A step, a checkpoint, progress: the handler goes on.
      if (renewals.some(({ updates }) => updates !== undefined)) moved();
      return store.renew(renewals, leaseMs);
    },
    async settle(settlements) {
      const results = await store.settle(settlements);
      results.forEach((result, at) => {
        if (result === "settled") settlements[at]!.spawn?.forEach(added);
      });
      moved();
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
