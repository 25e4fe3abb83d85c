/** The types of jobs in a simulated world. What their handlers do is in `handlers.ts`. */
import { defineJob, type JobContract } from "../../packages/holdfast/src/core/contract.ts";

export const QUEUES = ["alpha", "beta", "gamma"] as const;
/** Of worlds under control: one behind a rate, one behind a breaker. */
export const METERED = "metered";
export const FRAGILE = "fragile";
export const MAX_CRASHES = 3;
/** Of the one schedule. */
export const TICKS_EVERY_MS = 5_000;

const retry = { maxAttempts: 4, baseMs: 100, factor: 2, maxMs: 5_000 };

/** How many of a hundred jobs are of which type; `killer` has its own knob in the weather. */
export const SHARES = {
  quick: 30,
  mixed: 22,
  once: 8,
  steps: 15,
  saver: 12,
  parent: 12,
  timed: 4,
  stubborn: 7,
  patient: 8,
  transacting: 8,
  stranger: 2,
  killer: 0,
  locked: 0,
  called: 0,
} as const;

export type Kind = keyof typeof SHARES;

function contract(type: Kind, queue: string, more: object = {}): JobContract {
  return defineJob({ type, queue, retry, maxCrashes: MAX_CRASHES, ...more }) as JobContract;
}

export const CONTRACTS: Readonly<Record<Kind, JobContract>> = {
  /** Ends within milliseconds: its workers keep a buffer. */
  quick: contract("quick", "alpha"),
  mixed: contract("mixed", "beta"),
  /** Must never run twice. */
  once: contract("once", "beta", { retry: { maxAttempts: 1 } }),
  steps: contract("steps", "beta"),
  saver: contract("saver", "gamma"),
  parent: contract("parent", "gamma"),
  timed: contract("timed", "gamma", { timeoutMs: 800 }),
  /** Does not listen to its signal. */
  stubborn: contract("stubborn", "beta"),
  /** Goes on while the store is away. */
  patient: contract("patient", "gamma", { onOutage: "continue" }),
  /** Settles in a transaction of its own. */
  transacting: contract("transacting", "alpha"),
  /** Half of the processes have no handler for it. */
  stranger: contract("stranger", "gamma"),
  /** Kills its process, every time. */
  killer: contract("killer", "beta"),
  /** Under control: work of one scope runs once at a time, and not again once it is done. */
  locked: contract("locked", "alpha", {
    lock: { key: "work", scope: ({ scope }: LockedPayload) => scope },
  }),
  /** Under control: calls another side, which may be down. */
  called: contract("called", METERED, { retry: { ...retry, maxAttempts: 6 } }),
};

/** What another payload says is other work, though of the same scope. */
export interface LockedPayload {
  readonly scope: string;
  readonly version: number;
}

export const CONTROLLED: readonly Kind[] = ["locked", "called"];
export const KINDS = (Object.keys(CONTRACTS) as Kind[]).filter(
  (kind) => !CONTROLLED.includes(kind),
);
