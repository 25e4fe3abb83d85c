/** System 4's rhythm: what a cycle is, and when it comes. */
import { InvalidOptionError } from "holdfast";
import { checkWords } from "../check-words.ts";

export interface CycleOptions {
  /** Default 2 minutes. */
  readonly everyMs?: number | undefined;
  /** The first one, after a worker has started. Default 30 s. */
  readonly startAfterMs?: number | undefined;
  /** When properties are ensured, after a worker has started. Default 15 s. */
  readonly ensureAfterMs?: number | undefined;
  /** Of one cycle, at most. Default 20. */
  readonly jobs?: number | undefined;
}

export interface Cycles {
  readonly everyMs: number;
  readonly startAfterMs: number;
  readonly ensureAfterMs: number;
  readonly jobs: number;
}

const SYSTEM: Cycles = {
  ...{ everyMs: 120_000, startAfterMs: 30_000, ensureAfterMs: 15_000, jobs: 20 },
};

export function checkCycles(given: CycleOptions | boolean | undefined): Cycles | null {
  if (given === undefined || given === false) return null;
  if (given === true) return SYSTEM;
  checkWords("cycles", given, Object.keys(SYSTEM));
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const cycles = { ...SYSTEM, ...Object.fromEntries(named) } as Cycles;
  for (const [word, value] of Object.entries(cycles) as [string, unknown][]) {
    const isWhole = Number.isInteger(value) && (value as number) >= (word === "jobs" ? 1 : 0);
    if (!isWhole) throw new InvalidOptionError(`cycles.${word} is a whole number`);
  }
  if (cycles.everyMs < 1_000) throw new InvalidOptionError("cycles.everyMs is 1000 or more");
  return cycles;
}
