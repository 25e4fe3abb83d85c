/**
 * How much of what is optional is done while there is pressure. The factor falls as the backlog grows beyond
 * what is usual, and is lower still while the other side is down.
 */
import { checkNumber, checkOptions, checkWhole, MOST } from "./option-checks.ts";

export interface ThinningOptions {
  /** Ready activities that wait, beyond which thinning begins. Default 1,000. */
  readonly backlog?: number | undefined;
  /** Never less than this part is done. Default 0.1. */
  readonly least?: number | undefined;
  /** How often a process looks at the backlog, at most. Default 2 s; 0: for each record. */
  readonly lookMs?: number | undefined;
}

export interface ThinningRule {
  readonly backlog: number;
  readonly least: number;
  readonly lookMs: number;
}

export interface Pressure {
  /** Ready activities that wait. */
  readonly waiting: number;
  /** A breaker is open, or a cooldown holds. */
  readonly isDown: boolean;
}

export function checkThinning(given: ThinningOptions | false | undefined): ThinningRule | null {
  if (given === false) return null;
  checkOptions("thinning", given ?? {}, ["backlog", "least", "lookMs"]);
  const { backlog = 1_000, least = 0.1, lookMs = 2_000 } = given ?? {};
  return {
    backlog: checkWhole("thinning.backlog", backlog, 1, MOST),
    least: checkNumber("thinning.least", least, 0, 1),
    lookMs: checkWhole("thinning.lookMs", lookMs, 0, 60_000),
  };
}

/** 1: everything. Twice the usual backlog: half of it. */
export function thinningFactor(
  rule: Pick<ThinningRule, "backlog" | "least"> | null,
  { waiting, isDown }: Pressure,
): number {
  if (rule === null) return 1;
  const byBacklog = waiting <= rule.backlog ? 1 : rule.backlog / waiting;
  const factor = isDown ? byBacklog / 2 : byBacklog;
  // In hundredths: what a job decides by is also what people read.
  return Math.max(rule.least, Math.round(factor * 100) / 100);
}
