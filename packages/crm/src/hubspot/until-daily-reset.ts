/** When a daily limit is lifted: at the next midnight in the time zone of its account. */
const DAY_MS = 86_400_000;
/** Nobody spends a day's limit in the first minutes of it: its lifting is late, or our clock is ahead of theirs. */
const NEW_DAY_MS = 10 * 60_000;
const AGAIN_MS = 60_000;

/** In milliseconds. Right after midnight it is asked again soon: who waited for the next one would lose a day. */
export function untilDailyReset(now: number, timeZone: string): number {
  const isNewDay = dayOf(now - NEW_DAY_MS, timeZone) !== dayOf(now, timeZone);
  return isNewDay ? AGAIN_MS : untilMidnight(now, timeZone);
}

/** By what the zone's wall clock shows. */
function untilMidnight(now: number, timeZone: string): number {
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
