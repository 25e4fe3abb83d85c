/** Times and durations as people read them: one unit, two figures, the exact time in a title. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 250 → "250 ms", 4100 → "4.1 s", 246000 → "4.1 min". */
export function duration(ms: number): string {
  const value = Math.max(0, ms);
  if (value < 1) return value === 0 ? "0 ms" : "< 1 ms";
  if (value < SECOND) return `${Math.round(value)} ms`;
  if (value < MINUTE) return `${figure(value / SECOND)} s`;
  if (value < HOUR) return `${figure(value / MINUTE)} min`;
  if (value < 2 * DAY) return `${figure(value / HOUR)} h`;
  return `${figure(value / DAY)} days`;
}

function figure(value: number): string {
  // 9.96 has one digit before the point and would be shown as 10.0.
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}

/** How long ago, by the clock given: "4.1 min". Null where there is nothing. */
export function age(at: string | null, now: number): number | null {
  return at === null ? null : Math.max(0, now - Date.parse(at));
}

/** "6 min ago", "in 30 s", "now". */
export function relative(at: string, now: number): string {
  const ms = Date.parse(at) - now;
  if (Math.abs(ms) < SECOND) return "now";
  return ms > 0 ? `in ${duration(ms)}` : `${duration(-ms)} ago`;
}

const clock = new Intl.DateTimeFormat("en-GB", {
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
});
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat("en-GB", {
  ...{ year: "numeric", month: "short", day: "numeric", timeZoneName: "short" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  fractionalSecondDigits: 3,
});

/** In the reader's zone: the time of today, else the day as well. */
export function moment(at: string | number | Date, now: number): string {
  const date = new Date(at);
  const time = clock.format(date);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${day.format(date)} ${time.slice(0, 5)}`;
}

export function clockTime(at: string | number | Date): string {
  return clock.format(new Date(at));
}

/** With everything: for a title, and for what is copied. */
export function exactTime(at: string | number | Date): string {
  return full.format(new Date(at));
}

/** Sentences of the library carry instants as machines write them; people read them like all others here. */
export function withLocalTimes(text: string, now: number): string {
  return text.replace(/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, (at) => moment(at, now));
}

/** For a field that is read again: 100000 → "100 s", never rounded. */
export function exactDuration(ms: number): string {
  const units = [
    [DAY, "days"],
    [HOUR, "h"],
    [MINUTE, "min"],
    [SECOND, "s"],
  ] as const;
  const found = ms === 0 ? undefined : units.find(([unit]) => ms % unit === 0);
  return found === undefined ? `${ms} ms` : `${ms / found[0]} ${found[1]}`;
}

/** "90 s", "1.5h", "2 days" and plain milliseconds; null where it is none. */
export function parseDuration(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|sec|m|min|h|d|days?)?\s*$/i.exec(text);
  if (!found) return null;
  const units: Readonly<Record<string, number>> = {
    ...{ ms: 1, s: SECOND, sec: SECOND, m: MINUTE, min: MINUTE, h: HOUR },
    ...{ d: DAY, day: DAY, days: DAY },
  };
  const unit = units[(found[2] ?? "ms").toLowerCase()];
  const ms = Math.round(Number(found[1]) * (unit ?? 1));
  return Number.isSafeInteger(ms) ? ms : null;
}
