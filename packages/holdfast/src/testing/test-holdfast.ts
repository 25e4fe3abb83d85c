/**
 * Holdfast for a user's own tests: the real engine on the memory store and on virtual time. Nothing
 * runs until `drain()`, nothing waits, and a day passes in a moment.
 */
import type { Alert } from "../core/alert.ts";
import { checkTarget, type JobContract } from "../core/contract.ts";
import {
  checkNumber,
  checkOptions,
  checkText,
  checkWhole,
  MAX_DURATION_MS,
} from "../core/option-checks.ts";
import { Holdfast, type HoldfastOptions } from "../holdfast.ts";
import type { AnyContract, InputOf } from "../engine/typed-jobs.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { Drains, type AnyHoldfast } from "./drains.ts";
import { NextFailures } from "./next-failures.ts";
import { Notes, type DeadLetter, type EnqueuedJob, type TickedSchedule } from "./notes.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface TestHoldfastOptions<Jobs extends readonly AnyContract[]> extends Omit<
  HoldfastOptions<Jobs>,
  "store" | "runtime"
> {
  /** Chance (jitter, ids) from another seed. */
  readonly seed?: number;
  /** How much real time may pass without any progress, before `drain` and `waitFor` say what they wait for. Default 2 s. */
  readonly patienceMs?: number;
}

export interface TestHoldfast<Jobs extends readonly AnyContract[]> {
  readonly hf: Holdfast<Jobs>;
  /** Virtual time, in milliseconds since the epoch. */
  now(): number;
  /**
   * Moves time on. Schedules fire at their times; jobs that become due run at the next `drain()`. While a drain is under way, it first lets
   * that start what is due, so that timeouts of running handlers come to their end.
   */
  advance(ms: number): Promise<void>;
  /** Runs every job that is due, and what those spawn, until nothing runs and nothing is left to do now. */
  drain(): Promise<void>;
  /** Makes the next run of a type fail with this error, before its handler is called. Twice: the next two. */
  fail(target: AnyContract | string, error: unknown): void;
  /** The ticks of a schedule that time has come to, or of all of them, oldest first. */
  ticks(schedule?: string): TickedSchedule[];
  /** The jobs that are dead now, or those of one contract or type, in the order in which they died. */
  deadLetters(target?: AnyContract | string): DeadLetter[];
  /** All jobs added so far, or those of one contract or type, oldest first. */
  enqueued<Contract extends AnyContract>(contract: Contract): EnqueuedJob<InputOf<Contract>>[];
  enqueued(type?: string): EnqueuedJob[];
  /** What was raised so far, oldest first. Dead jobs are among it once `alerts` is given. */
  alerts(): Alert[];
}

const OPTIONS = [
  ...["seed", "patienceMs", "jobs", "ledger", "resilient", "logger", "retention"],
  ...[
    "maxAttempts",
    "lock",
    "work",
    "maxPayloadBytes",
    "appVersion",
    "redact",
    "alerts",
    "archive",
    "stats",
    "extensions",
  ],
];

export function testHoldfast<const Jobs extends readonly AnyContract[] = readonly []>(
  options: TestHoldfastOptions<Jobs> = {},
): TestHoldfast<Jobs> {
  checkOptions("testHoldfast", options, OPTIONS);
  const { seed = 1, patienceMs = 2_000, ...rest } = options;
  checkWhole("patienceMs", patienceMs, { min: 1, max: MAX_DURATION_MS });
  checkWhole("seed", seed, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const time = new VirtualTime({ seed });
  const notes = new Notes();
  const failures = new NextFailures();
  const store = notes.watch(memoryStore({ now: () => time.now }), () => drains.moved());
  // Only time is virtual: what a caller awaits must go on without anyone turning a wheel.
  const runtime = {
    ...time.runtime(),
    defer: (callback: () => void) => void setImmediate(callback),
  };
  const extensions = [() => failures.extension, ...(rest.extensions ?? [])];
  const hf = new Holdfast<Jobs>({ ...rest, extensions, store, runtime } as HoldfastOptions<Jobs>);
  const drains = new Drains({ hf, store, time, patienceMs });
  closeInVirtualTime(hf, time);
  waitWhileMoving(hf, drains);
  const alerts: Alert[] = [];
  hf.on("alert", (alert) => void alerts.push(alert));

  return {
    hf,
    now: () => time.now,
    advance: async (ms) => {
      checkNumber("what advance takes", ms, { min: 0, max: MAX_DURATION_MS });
      // A drain that is under way starts what is due first: its handlers live through the time that passes.
      await drains.standStill();
      drains.moved();
      await advanceByTicks(hf, time, ms);
    },
    drain: () => drains.drain(),
    alerts: () => [...alerts],
    enqueued: (target?: JobContract | string) => ofTarget("enqueued", notes.added, target),
    deadLetters: (target?: JobContract | string) => ofTarget("deadLetters", notes.dead, target),
    ticks: (schedule?: string) => {
      if (schedule !== undefined) checkText("the name of a schedule", schedule);
      return notes.ticks.filter((tick) => schedule === undefined || tick.schedule === schedule);
    },
    fail: (target: JobContract | string, error: unknown) => {
      const given = checkTarget("fail", target);
      failures.add(typeof given === "string" ? given : given.type, error);
    },
  } as TestHoldfast<Jobs>;
}

function ofTarget<Job extends { readonly type: string }>(
  what: string,
  jobs: readonly Job[],
  target: JobContract | string | undefined,
): Job[] {
  if (target === undefined) return [...jobs];
  const given = checkTarget(what, target);
  const type = typeof given === "string" ? given : given.type;
  return jobs.filter((job) => job.type === type);
}

/** No worker lives while time passes, so that nothing runs before a drain; but schedules fire at their times. */
async function advanceByTicks(hf: AnyHoldfast, time: VirtualTime, ms: number): Promise<void> {
  const until = time.now + ms;
  for (;;) {
    const next = await hf.schedules.tick();
    if (next === null || next > until) break;
    await time.advance(Math.max(0, next - time.now));
  }
  await time.advance(until - time.now);
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

/** Nothing runs before a drain, so a `waitFor` before it would wait for ever: it says so instead. */
function waitWhileMoving(hf: AnyHoldfast, drains: Drains): void {
  const waitFor = hf.waitFor.bind(hf);
  hf.waitFor = (target, options) => {
    const id = typeof target === "string" ? target : target?.id;
    return drains.whileMoving(id, waitFor(target, options));
  };
}
