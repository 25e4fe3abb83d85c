/**
 * Makes one record of what all processes counted in a minute, and later one of the minutes of an hour. Any
 * process may do it at any time; one claims each minute, so that usually only one does.
 *
 * A minute of a process is in the minute of the fleet exactly if that names the process. An hour that is closed
 * names whatever came late. So a merge that was interrupted anywhere is done again without counting twice.
 */
import type { Records, StoredRecord, Swap } from "../../core/records.ts";
import {
  hourKey,
  hourOf,
  LIVE,
  livePart,
  liveKey,
  MERGED,
  MINUTE_MS,
  HOUR_MS,
  MINUTES_KEPT_MS,
  minuteKey,
  minutesOf,
  NOTHING_MERGED,
  parsed,
  scanAll,
  TTL_MS,
  type HourRecord,
  type LivePart,
  type Merged,
  type MinuteRecord,
} from "./stats-records.ts";
import { Tally } from "./tally.ts";

/** Every process that is in contact has stored what it counted in a minute so long after its end. */
export const MINUTE_GRACE_MS = 15_000;
/** An hour is closed so long after its end. */
export const HOUR_GRACE_MS = 10 * MINUTE_MS;
const PAGE = 200;
const TRIES = 10;

/** In how many milliseconds there is something to do again; null: when something new was counted. */
export async function mergeStats(records: Records, now: number): Promise<number | null> {
  const due = Math.floor((now - MINUTE_GRACE_MS) / MINUTE_MS) - 1;
  const [found = null] = await records.read([MERGED]);
  const before = parsed<Merged>(found) ?? NOTHING_MERGED;
  if (before.through >= due && !isHourDue(before, now)) return nextInMs(before, now);
  const parts = await partsThrough(records, due);
  const hours = [...new Set(parts.map(({ minute }) => hourOf(minute)))];
  const closed = await closedAmong(records, hours);
  const open = [...new Set([...before.open, ...hours.filter((hour) => !closed.has(hour))])];
  const claimed: Merged = { ...before, through: Math.max(due, before.through), open };
  const [claim] = await records.swap([recordOf(MERGED, found, claimed)]);
  // Another process does it now; if it is killed meanwhile, the next minute finds what it left.
  if (!claim?.swapped) return nextInMs(claimed, now);
  for (const [minute, some] of Map.groupBy(parts, (part) => part.minute)) {
    if (closed.has(hourOf(minute))) await addLate(records, some);
    else await addToMinute(records, minute, some);
    await records.swap(some.map(deletion));
  }
  const after = await forget(records, await closeHours(records, claimed, now), now);
  return nextInMs(after, now);
}

function isHourDue({ open, closed }: Merged, now: number): boolean {
  return open.some((hour) => closesAt(hour) <= now) || closed.some((hour) => goneAt(hour) <= now);
}

function nextInMs({ open, closed }: Merged, now: number): number | null {
  const next = Math.min(...open.map(closesAt), ...closed.map(goneAt));
  return next === Infinity ? null : Math.max(0, next - now);
}

const closesAt = (hour: number): number => (hour + 1) * HOUR_MS + HOUR_GRACE_MS;
const goneAt = (hour: number): number => (hour + 1) * HOUR_MS + MINUTES_KEPT_MS;

/** In the order of their minutes, those that every process has finished. */
async function partsThrough(records: Records, due: number): Promise<LivePart[]> {
  const parts: LivePart[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Records["scan"]>> = await records.scan({
      ...{ prefix: LIVE, limit: PAGE, cursor },
    });
    const read = page.records.map(livePart);
    parts.push(...read.filter(({ minute }) => minute <= due));
    cursor = (read.at(-1)?.minute ?? 0) > due ? null : page.nextCursor;
  } while (cursor !== null);
  return parts;
}

async function closedAmong(records: Records, hours: readonly number[]): Promise<Set<number>> {
  const found = hours.length === 0 ? [] : await records.read(hours.map(hourKey));
  return new Set(hours.filter((_, at) => found[at] != null));
}

async function addToMinute(
  records: Records,
  minute: number,
  parts: readonly LivePart[],
): Promise<void> {
  await change<MinuteRecord>(records, minuteKey(minute), (before) => {
    const known = new Set(before?.by);
    const added = parts.filter(({ process }) => !known.has(process));
    if (added.length === 0) return null;
    const by = [...known, ...added.map(({ process }) => process)];
    return { by, rows: rowsOf([...(before ? [before] : []), ...added]) };
  });
}

/** The hour is one record already: after a time in which no process merged anything. */
async function addLate(records: Records, parts: readonly LivePart[]): Promise<void> {
  const name = ({ minute, process }: LivePart) => `${minute}/${process}`;
  const [first] = parts;
  if (!first) return;
  const minutes = await records.read([minuteKey(first.minute)]);
  const known = new Set(parsed<MinuteRecord>(minutes[0])?.by);
  await change<HourRecord>(records, hourKey(hourOf(first.minute)), (before) => {
    const late = new Set(before?.late);
    const added = parts.filter((part) => !late.has(name(part)) && !known.has(part.process));
    if (added.length === 0) return null;
    const rows = rowsOf([...(before ? [before] : []), ...added]);
    return { late: [...late, ...added.map(name)], rows };
  });
}

async function closeHours(records: Records, claimed: Merged, now: number): Promise<Merged> {
  const due = claimed.open.filter((hour) => closesAt(hour) <= now);
  if (due.length === 0) return claimed;
  for (const hour of due) {
    const minutes = await scanAll(records, minutesOf(hour));
    const rows = rowsOf(minutes.map((record) => parsed<MinuteRecord>(record)!));
    const value: HourRecord = { late: [], rows };
    // If it is there, another process was faster.
    await records.swap([recordOf(hourKey(hour), null, value)]);
  }
  return changeMerged(records, (before) => ({
    ...before,
    open: before.open.filter((hour) => !due.includes(hour)),
    closed: [...new Set([...before.closed, ...due])],
  }));
}

/** Minutes of hours that are one record, once they are not shown by minute any more. */
async function forget(records: Records, merged: Merged, now: number): Promise<Merged> {
  const gone = merged.closed.filter((hour) => goneAt(hour) <= now);
  if (gone.length === 0) return merged;
  for (const hour of gone) {
    const minutes = await scanAll(records, minutesOf(hour));
    const deletions = minutes.map(({ key, version }) => ({ key, expect: version, ...DELETED }));
    await records.swap(deletions);
  }
  return changeMerged(records, (before) => ({
    ...before,
    closed: before.closed.filter((hour) => !gone.includes(hour)),
  }));
}

async function changeMerged(records: Records, how: (before: Merged) => Merged): Promise<Merged> {
  const changed = await change<Merged>(records, MERGED, (before) => how(before ?? NOTHING_MERGED));
  return changed ?? NOTHING_MERGED;
}

/** Compare and set, until it holds. Null leaves it as it is. Answers what is there afterwards. */
async function change<Value>(
  records: Records,
  key: string,
  how: (before: Value | null) => Value | null,
): Promise<Value | null> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const [found = null] = await records.read([key]);
    const before = parsed<Value>(found);
    const after = how(before);
    if (after === null) return before;
    const [result] = await records.swap([recordOf(key, found, after)]);
    if (result?.swapped) return after;
  }
  // Other processes change it all the time: the next minute will find what is left.
  throw new Error(`the record ${key} changed ${TRIES} times while it was to be changed`);
}

function rowsOf(some: readonly Pick<MinuteRecord, "rows">[]) {
  const tally = new Tally();
  for (const { rows } of some) tally.addRows(rows);
  return tally.rows();
}

const DELETED = { value: null, ttlMs: null } as const;

function deletion({ minute, process, version }: LivePart): Swap {
  return { key: liveKey(minute, process), expect: version, ...DELETED };
}

function recordOf(key: string, found: StoredRecord | null, value: unknown): Swap {
  return {
    ...{ key, expect: found?.version ?? null },
    ...{ value: JSON.stringify(value), ttlMs: TTL_MS },
  };
}
