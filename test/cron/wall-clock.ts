/** What clocks on the wall show, asked of Intl minute by minute: slow, plain, and nothing of it is from the code under test. */

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  formats.set(timeZone, format);
  return format;
}

/** The local time, written as the milliseconds that it would be in UTC. */
export function wallTime(timeZone: string, at: number): number {
  // Swedes write "2025-03-30 03:00:00".
  return Date.parse(`${formatOf(timeZone).format(at).replace(" ", "T")}Z`);
}

/** The clocks show another offset from this instant on. */
export interface ClockChange {
  readonly at: number;
  /** By how much the clocks are put forward; negative: back. */
  readonly byMs: number;
}

const STEP_MS = 3 * DAY_MS;
const known = new Map<string, readonly ClockChange[]>();

/** All changes of a year, looked for every three days: no zone changed its clocks twice in a week. */
export function changesOf(timeZone: string, year: number): readonly ClockChange[] {
  const key = `${timeZone} ${year}`;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  const changes: ClockChange[] = [];
  const end = Date.UTC(year + 1, 0, 1);
  let before = offset(timeZone, Date.UTC(year, 0, 1));
  for (let from = Date.UTC(year, 0, 1); from < end; from += STEP_MS) {
    const after = offset(timeZone, from + STEP_MS);
    if (after === before) continue;
    let low = from;
    let high = from + STEP_MS;
    while (high - low > MINUTE_MS) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offset(timeZone, middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, byMs: after - before });
    before = after;
  }
  known.set(key, changes);
  return changes;
}

function offset(timeZone: string, at: number): number {
  return wallTime(timeZone, at) - at;
}
