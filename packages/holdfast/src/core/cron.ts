/**
 * When a schedule by cron expression fires. Pure: the same answer in every process, whatever zone its
 * machine is in. `docs/reference/cron.md` is the reference; ADR 0024 says why it is ours.
 *
 * The clocks on the wall are put forward and back. There are two kinds of expressions:
 *
 * - Those that name hours (`30 2 * * *`) mean times of day. Each fires when the wall clock first shows or
 *   passes it: a time that does not exist at the first instant after the gap, one that exists twice at the first.
 * - Those whose hour is `*`, or a step over all hours, mean a rhythm. They fire whenever the wall clock shows
 *   a time that matches: in both passes of a doubled hour, and never in a gap.
 */
import { DAY_MS, END_AT, nextLocalTime } from "./cron-calendar.ts";
import type { Cron } from "./cron-expression.ts";
import { UTC, zoneClock, type ZoneClock } from "./cron-zone.ts";
import { InvalidOptionError } from "./errors.ts";
import { show } from "./text.ts";

export { parseCron, type Cron } from "./cron-expression.ts";
export { checkTimeZone } from "./cron-zone.ts";

/** The first tick after an instant; null if there is none before the year 10000. */
export function nextTick(cron: Cron, timeZone: string = UTC, after: number): number | null {
  if (typeof after !== "number" || !(after >= 0)) {
    throw new InvalidOptionError(`after must be milliseconds since 1970, not ${show(after)}`);
  }
  if (after >= END_AT) return null;
  const clock = zoneClock(timeZone);
  return cron.hours.named ? nextTimeOfDay(cron, clock, after) : nextInRhythm(cron, clock, after);
}

/** The first ticks after an instant, five unless told: what a page shows of a schedule. */
export function nextTicks(
  cron: Cron,
  timeZone: string = UTC,
  { after, count = 5 }: { readonly after: number; readonly count?: number },
): number[] {
  return ticksBetween(cron, timeZone, { after, until: Infinity, limit: count });
}

/** The first ticks after one instant and until another, that one included, at most `limit`. */
export function ticksBetween(
  cron: Cron,
  timeZone: string = UTC,
  {
    after,
    until,
    limit,
  }: { readonly after: number; readonly until: number; readonly limit: number },
): number[] {
  const ticks: number[] = [];
  let tick = nextTick(cron, timeZone, after);
  while (tick !== null && tick <= until && ticks.length < limit) {
    ticks.push(tick);
    tick = nextTick(cron, timeZone, tick);
  }
  return ticks;
}

/** The last tick after one instant and until another, that one included; null if there is none. */
export function lastTick(
  cron: Cron,
  timeZone: string = UTC,
  { after, until }: { readonly after: number; readonly until: number },
): number | null {
  // Halving, so that a month of ticks a second costs some forty questions and not millions.
  let last: number | null = null;
  let low = after;
  let high = Math.min(until, END_AT);
  while (low < high) {
    const from = last === null ? low : Math.floor((low + high) / 2);
    const tick = nextTick(cron, timeZone, from);
    if (tick !== null && tick <= until) last = low = tick;
    else if (last === null) return null;
    else high = from;
  }
  return last;
}

/** The instant at which the wall clock first shows, or passes, the next time of day that is named. */
function nextTimeOfDay(cron: Cron, clock: ZoneClock, after: number): number | null {
  let stretch = clock.stretchAt(after);
  let from = nextSecond(after + stretch.offset);
  // What the clock showed before it was put back has fired.
  while (stretch.from > after - DAY_MS) {
    stretch = clock.stretchAt(stretch.from - 1);
    from = Math.max(from, stretch.to + stretch.offset);
  }
  const local = nextLocalTime(cron, from);
  if (local === Infinity) return null;
  // No offset is a day long, so the clock cannot have shown it earlier.
  stretch = clock.stretchAt(Math.max(after, local - DAY_MS));
  while (stretch.to + stretch.offset <= local) stretch = clock.stretchAt(stretch.to);
  return Math.max(stretch.from, local - stretch.offset);
}

/** The next instant at which the wall clock shows a time that matches. */
function nextInRhythm(cron: Cron, clock: ZoneClock, after: number): number | null {
  let stretch = clock.stretchAt(after);
  let from = nextSecond(after + stretch.offset);
  for (;;) {
    const local = nextLocalTime(cron, from);
    if (local === Infinity) return null;
    if (local - stretch.offset < stretch.to) return local - stretch.offset;
    // From here on the clock shows nothing earlier than a day before this stretch ends, and it shows
    // what is next after that not earlier than a day before. So years without a match are jumped over.
    const ahead = nextLocalTime(cron, stretch.to - DAY_MS);
    if (ahead === Infinity) return null;
    const at = Math.max(stretch.to, ahead - DAY_MS);
    stretch = clock.stretchAt(at);
    from = at + stretch.offset;
  }
}

/** The first whole second after a time. */
function nextSecond(time: number): number {
  return Math.floor(time / 1000) * 1000 + 1000;
}
