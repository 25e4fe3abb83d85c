/** Milliseconds until the next midnight in a time zone, by what its wall clock shows. */
const DAY_MS = 86_400_000;

export function untilMidnight(now: number, timeZone: string): number {
  const today = dayOf(now, timeZone);
  // The next day begins somewhere in the next 25 hours, whatever the clocks do that night.
  let before = 0;
  let after = DAY_MS + 3_600_000;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(now + middle, timeZone) === today) before = middle;
    else after = middle;
  }
  return after;
}

const FORMATS = new Map<string, Intl.DateTimeFormat>();

function dayOf(at: number, timeZone: string): string {
  let format = FORMATS.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
    FORMATS.set(timeZone, format);
  }
  return format.format(at);
}
