/**
 * Where a library's ticks differ from ours, and which row of docs/reference/cron.md explains it. A tick that
 * no row explains is a bug in one of the two, and fails the test.
 */
import { changesOf, wallTime, type ClockChange } from "./wall-clock.ts";

/** The first column of the table. */
export const CLASSES = [
  "day-by-step-of-one",
  "lost-in-gap",
  "late-in-gap",
  "extra-in-gap",
  "silent-around-gap",
  "second-pass-fires",
  "first-pass-lost",
  "one-pass-lost",
  "before-asked",
] as const;
export type DifferenceClass = (typeof CLASSES)[number];

export interface Difference {
  readonly tick: number;
  /** Ours, and not the library's; or the library's, and not ours. */
  readonly whose: "ours" | "theirs";
  readonly because: DifferenceClass | null;
}

export interface Compared {
  /** The instant from which ticks were asked for. */
  readonly after: number;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly timeZone: string;
  readonly expression: string;
  /** The expression names hours. */
  readonly named: boolean;
}

/** One day is a step of one, and the other is given. */
function hasDayByStepOfOne(expression: string): boolean {
  const fields = expression.split(" ");
  const days = [fields.at(-3), fields.at(-1)];
  return days.includes("*/1") && days.some((day) => day !== "*/1" && day !== "*");
}

export function differences(compared: Compared): Difference[] {
  const { after, ours, theirs, timeZone, expression, named } = compared;
  const ofOne = hasDayByStepOfOne(expression);
  const sets = { ours: new Set(ours), theirs: new Set(theirs) };
  const all = [...new Set([...ours, ...theirs])].sort((left, right) => left - right);
  return all
    .filter((tick) => sets.ours.has(tick) !== sets.theirs.has(tick))
    .map((tick) => {
      const whose = sets.ours.has(tick) ? "ours" : "theirs";
      if (tick <= after) return { tick, whose, because: "before-asked" };
      if (ofOne && whose === "theirs") return { tick, whose, because: "day-by-step-of-one" };
      return { tick, whose, because: because(tick, whose, named, timeZone) };
    });
}

const HOUR_MS = 3_600_000;

function because(
  tick: number,
  whose: "ours" | "theirs",
  named: boolean,
  timeZone: string,
): DifferenceClass | null {
  const year = new Date(tick).getUTCFullYear();
  const changes = [year - 1, year, year + 1].flatMap((one) => changesOf(timeZone, one));
  const change = changes.find(({ at, byMs }) => Math.abs(tick - at) <= HOUR_MS + Math.abs(byMs));
  if (change === undefined) return null;
  if (change.byMs < 0) return inFold(tick, whose, named, change);
  const sinceMs = tick - change.at;
  if (whose === "ours") {
    if (named && sinceMs === 0) return "lost-in-gap";
    const isNear = Math.abs(sinceMs) <= HOUR_MS;
    return isNear && isWithinAnHour(timeZone, change) ? "silent-around-gap" : null;
  }
  // A part of an hour that does not exist is made up for in the next hour.
  const lateMs = change.byMs + (isWithinAnHour(timeZone, change) ? HOUR_MS : 0);
  if (sinceMs < 0 || sinceMs > lateMs) return null;
  return named ? "late-in-gap" : "extra-in-gap";
}

/** The first pass of a doubled hour ends with the change, the second begins with it. */
function inFold(
  tick: number,
  whose: "ours" | "theirs",
  named: boolean,
  { at, byMs }: ClockChange,
): DifferenceClass | null {
  const sinceMs = tick - at;
  if (sinceMs < byMs || sinceMs >= -byMs) return null;
  if (!named) return whose === "ours" ? "one-pass-lost" : null;
  if (whose === "ours") return sinceMs < 0 ? "first-pass-lost" : null;
  return sinceMs >= 0 ? "second-pass-fires" : null;
}

/** Begins or ends at another minute than 0, so that a part of an hour exists on one side of it. */
function isWithinAnHour(timeZone: string, { at, byMs }: ClockChange): boolean {
  return wallTime(timeZone, at) % HOUR_MS !== 0 || byMs % HOUR_MS !== 0;
}
