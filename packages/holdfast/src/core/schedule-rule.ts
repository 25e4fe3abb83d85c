/** When a schedule fires: by a cron expression in a time zone, or by an interval from its first tick on. Pure. */
import { lastTick, nextTick, parseCron, ticksBetween, checkTimeZone, type Cron } from "./cron.ts";
import { InvalidOptionError } from "./errors.ts";
import { checkInterval, nextInterval } from "./interval.ts";
import { checkWhole, MAX_DURATION_MS } from "./option-checks.ts";

export type ScheduleRule =
  | { readonly cron: string; readonly timeZone: string }
  /** `startAfterMs`: from when it is first stored to its first tick. */
  | { readonly everyMs: number; readonly startAfterMs: number };

/** What a user says of it: by an expression, or by an interval. Neither or both do not compile. */
export type RuleOptions = CronRuleOptions | IntervalRuleOptions;

export interface CronRuleOptions {
  /** Five fields, or six with the second in front. */
  readonly cron: string;
  /** Default UTC. */
  readonly timeZone?: string | undefined;
  readonly everyMs?: undefined;
  readonly startAfterMs?: undefined;
}

export interface IntervalRuleOptions {
  /** Instead of `cron`: so often, a second at least. */
  readonly everyMs: number;
  /** The first tick of an interval, from when the schedule is first stored. Default `everyMs`. */
  readonly startAfterMs?: number | undefined;
  readonly cron?: undefined;
  readonly timeZone?: undefined;
}

/** The ticks of a stretch of time: the latest of them, oldest first, and how many there are in all. */
export interface DueTicks {
  readonly ticks: readonly number[];
  /** Of an expression counted to {@link TICKS_COUNTED_TO}. */
  readonly count: number;
}

/** More ticks than this are not caught up with at once. */
export const MOST_CAUGHT_UP = 100;
export const TICKS_COUNTED_TO = 1_000;

/** Throws `InvalidOptionError` with what to write instead. */
export function checkRule(what: string, options: RuleOptions): ScheduleRule {
  const { cron, timeZone, everyMs, startAfterMs } = options;
  if ((cron === undefined) === (everyMs === undefined)) {
    throw new InvalidOptionError(
      `${what} takes either cron, such as "0 9 * * 1", or everyMs, such as 120_000`,
    );
  }
  if (cron !== undefined) {
    if (startAfterMs !== undefined) {
      throw new InvalidOptionError(
        "startAfterMs is for intervals: an expression says by itself when its first tick is",
      );
    }
    return { cron: parseCron(cron).expression, timeZone: checkTimeZone(timeZone) };
  }
  if (timeZone !== undefined) {
    throw new InvalidOptionError("timeZone is for cron: an interval is the same in every zone");
  }
  const interval = checkInterval({ everyMs, anchor: 0 });
  const bounds = { min: 0, max: MAX_DURATION_MS };
  return {
    everyMs: interval.everyMs,
    startAfterMs: checkWhole("startAfterMs", startAfterMs ?? interval.everyMs, bounds),
  };
}

/** The instant of the first tick of a schedule that is stored now; null if there is none. */
export function firstTick(rule: ScheduleRule, now: number): number | null {
  return "cron" in rule ? tickAfter(rule, { anchor: 0, after: now }) : now + rule.startAfterMs;
}

/** The first tick after an instant. Intervals count from their anchor, which is their first tick. */
export function tickAfter(
  rule: ScheduleRule,
  { anchor, after }: { readonly anchor: number; readonly after: number },
): number | null {
  if ("cron" in rule) return nextTick(parsed(rule.cron), rule.timeZone, Math.max(0, after));
  return nextInterval({ everyMs: rule.everyMs, anchor }, after);
}

export function ticksAfter(
  rule: ScheduleRule,
  at: { readonly anchor: number; readonly after: number; readonly count: number },
): number[] {
  const ticks: number[] = [];
  let tick = tickAfter(rule, at);
  while (tick !== null && ticks.length < at.count) {
    ticks.push(tick);
    tick = tickAfter(rule, { anchor: at.anchor, after: tick });
  }
  return ticks;
}

/** The ticks from one that is due until now, both included. */
export function dueTicks(
  rule: ScheduleRule,
  { from, until }: { readonly from: number; readonly until: number },
): DueTicks {
  if (until < from) return { ticks: [], count: 0 };
  if ("everyMs" in rule) {
    const count = Math.floor((until - from) / rule.everyMs) + 1;
    const shown = Math.min(count, MOST_CAUGHT_UP);
    const first = from + (count - shown) * rule.everyMs;
    return { ticks: Array.from({ length: shown }, (_, at) => first + at * rule.everyMs), count };
  }
  const cron = parsed(rule.cron);
  const after = Math.max(0, from - 1);
  const limit = TICKS_COUNTED_TO;
  const ticks = ticksBetween(cron, rule.timeZone, { after, until, limit });
  if (ticks.length < limit) return { ticks: ticks.slice(-MOST_CAUGHT_UP), count: ticks.length };
  return { ticks: latest(cron, rule.timeZone, { after, until }), count: limit };
}

/** From the end backwards: a month of ticks a second is not walked through. */
function latest(cron: Cron, timeZone: string, span: { after: number; until: number }): number[] {
  const ticks: number[] = [];
  let { until } = span;
  while (ticks.length < MOST_CAUGHT_UP) {
    const tick = lastTick(cron, timeZone, { after: span.after, until });
    if (tick === null) break;
    ticks.unshift(tick);
    until = tick - 1;
  }
  return ticks;
}

const MOST_PARSED = 1_000;
const known = new Map<string, Cron>();

/** Many schedules share an expression, and each is asked at every tick. */
function parsed(expression: string): Cron {
  let cron = known.get(expression);
  if (cron === undefined) {
    if (known.size >= MOST_PARSED) known.clear();
    known.set(expression, (cron = parseCron(expression)));
  }
  return cron;
}
