/** When a schedule by interval fires: at its anchor, which is its first tick, and in steps from there. */
import { checkNumber, checkObject, checkWhole, MAX_DURATION_MS } from "./option-checks.ts";

export interface Interval {
  readonly everyMs: number;
  /** The instant of the first tick. Kept with the schedule, so that a restart does not move the ticks. */
  readonly anchor: number;
}

/** One tick a second is the most, as for cron expressions. */
const EVERY = { min: 1000, max: MAX_DURATION_MS };

/** Throws `InvalidOptionError`. */
export function checkInterval(interval: Interval): Interval {
  checkObject("interval", interval);
  const everyMs = checkWhole("everyMs", interval.everyMs, EVERY);
  const anchor = checkNumber("anchor", interval.anchor, { min: 0, max: Number.MAX_SAFE_INTEGER });
  return Object.freeze({ everyMs, anchor });
}

/** The first tick after an instant. It is computed from the anchor, so that no delay adds up. */
export function nextInterval({ everyMs, anchor }: Interval, after: number): number {
  if (after < anchor) return anchor;
  return anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs;
}
