/**
 * Which local times a cron expression names, on a calendar without time zones. A local time is written as
 * the milliseconds that it would be in UTC. Fields are jumped over, not tried one by one.
 */
import type { Cron } from "./cron-expression.ts";
import { NONE } from "./cron-field.ts";

export const DAY_MS = 86_400_000;

/** Nothing fires after it: later ticks are mistakes, and four digits are what every page can show. */
const LAST_YEAR = 9999;
export const END_AT = Date.UTC(LAST_YEAR + 1, 0, 1);

/** The first local time that the expression names, from this whole second on; `Infinity` if there is none. */
export function nextLocalTime(cron: Cron, from: number): number {
  const today = Math.floor(from / DAY_MS);
  const day = nextDay(cron, today);
  if (day === today) {
    const time = nextTimeOfDay(cron, (from - today * DAY_MS) / 1000);
    if (time !== NONE) return today * DAY_MS + time * 1000;
    return startOf(cron, nextDay(cron, today + 1));
  }
  return startOf(cron, day);
}

function startOf(cron: Cron, day: number): number {
  return day === Infinity ? Infinity : day * DAY_MS + nextTimeOfDay(cron, 0) * 1000;
}

/** In seconds from midnight on. */
function nextTimeOfDay({ hours, minutes, seconds }: Cron, from: number): number {
  const atHour = Math.floor(from / 3600);
  const atMinute = Math.floor(from / 60) % 60;
  const hour = hours.next[atHour] as number;
  if (hour === atHour) {
    const minute = minutes.next[atMinute] as number;
    if (minute === atMinute) {
      const second = seconds.next[from % 60] as number;
      if (second !== NONE) return hour * 3600 + minute * 60 + second;
    }
    const later = minute === atMinute ? (minutes.next[atMinute + 1] as number) : minute;
    if (later !== NONE) return hour * 3600 + later * 60 + (seconds.next[0] as number);
  }
  const later = hour === atHour ? (hours.next[atHour + 1] as number) : hour;
  if (later === NONE) return NONE;
  return later * 3600 + (minutes.next[0] as number) * 60 + (seconds.next[0] as number);
}

/** The first day from this one on, counted from 1970; `Infinity` if there is none. */
function nextDay(cron: Cron, from: number): number {
  const date = new Date(from * DAY_MS);
  let year = date.getUTCFullYear();
  let month = date.getUTCMonth() + 1;
  let day = date.getUTCDate();
  while (year <= LAST_YEAR) {
    const named = cron.months.next[month] as number;
    if (named === NONE) {
      year++;
      month = 1;
      day = 1;
      continue;
    }
    if (named !== month) day = 1;
    const found = nextDayOfMonth(cron, year, named, day);
    if (found !== NONE) return Date.UTC(year, named - 1, found) / DAY_MS;
    month = named + 1;
    day = 1;
  }
  return Infinity;
}

function nextDayOfMonth(cron: Cron, year: number, month: number, from: number): number {
  const { daysOfMonth, daysOfWeek } = cron;
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate();
  let day: number = NONE;
  if (daysOfMonth.given || !daysOfWeek.given) {
    day = daysOfMonth.next[from] as number;
    if (day > length) day = NONE;
    if (day === NONE && daysOfMonth.last) day = length;
  }
  if (!daysOfWeek.given) return day;
  // Both given: either matches, so the earlier of the two is next.
  const weekday = new Date(Date.UTC(year, month - 1, from)).getUTCDay();
  const thisWeek = daysOfWeek.next[weekday] as number;
  const nextWeek = 7 + (daysOfWeek.next[0] as number);
  const byWeek = from - weekday + (thisWeek === NONE ? nextWeek : thisWeek);
  if (byWeek > length) return day;
  return day === NONE ? byWeek : Math.min(day, byWeek);
}
