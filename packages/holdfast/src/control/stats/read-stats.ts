/**
 * Reads what the fleet counted in a window: by minute if it is short, else by hour. What moves from one record
 * to the next while it is read is found in one of them: the sources are read in the order in which it moves, and
 * what is in a later one is left out of the earlier.
 */
import { BATCH_ITEMS } from "../../core/job.ts";
import type { Records, StoredRecord } from "../../core/records.ts";
import {
  HOUR_MS,
  hourKey,
  hourOf,
  LIVE,
  livePart,
  MERGED,
  MINUTE_MS,
  minuteKey,
  MINUTES_KEPT_MS,
  minutesOf,
  NOTHING_MERGED,
  parsed,
  scanAll,
  type HourRecord,
  type Merged,
  type MinuteRecord,
} from "./stats-records.ts";
import { Series, type SeriesRow } from "./tally.ts";

export interface Window {
  /** Whole buckets, the first of which begins at or before what was asked for. */
  readonly from: number;
  readonly bucketMs: number;
  readonly buckets: number;
}

export function windowOf(now: number, lastMs: number): Window {
  const bucketMs = lastMs <= MINUTES_KEPT_MS ? MINUTE_MS : HOUR_MS;
  const first = Math.floor((now - lastMs) / bucketMs);
  const last = Math.floor(now / bucketMs);
  return { from: first * bucketMs, bucketMs, buckets: last - first + 1 };
}

/** Calls back with each bucket, counted from 0, and a row of it. */
export async function readStats(
  records: Records,
  window: Window,
  found: (bucket: number, row: SeriesRow) => void,
): Promise<void> {
  const { from, bucketMs, buckets } = window;
  const first = from / bucketMs;
  const add = (bucket: number, rows: readonly SeriesRow[]) => {
    if (bucket < first) return;
    // A process may be ahead of the store's clock by a moment.
    const at = Math.min(bucket - first, buckets - 1);
    for (const row of rows) found(at, row);
  };
  const isByMinute = bucketMs === MINUTE_MS;
  const bucketOf = (minute: number) => (isByMinute ? minute : hourOf(minute));
  const live = (await scanAll(records, LIVE)).map(livePart);
  const minutes = isByMinute
    ? await readKeys(records, range(first, buckets).map(minuteKey))
    : await readOpenMinutes(records);
  const hours = isByMinute ? [] : await readKeys(records, range(first, buckets).map(hourKey));
  const closed = new Map(hours.map((record) => [numberOf(record), parsed<HourRecord>(record)!]));
  const merged = new Map<number, MinuteRecord>();
  for (const record of minutes) {
    const minute = numberOf(record);
    if (closed.has(hourOf(minute))) continue;
    const value = parsed<MinuteRecord>(record)!;
    merged.set(minute, value);
    add(bucketOf(minute), value.rows);
  }
  for (const [hour, { rows }] of closed) add(hour, rows);
  for (const { minute, process, rows } of live) {
    const isMerged = merged.get(minute)?.by.includes(process);
    const isLate = closed.get(hourOf(minute))?.late.includes(`${minute}/${process}`);
    if (!isMerged && !isLate) add(bucketOf(minute), rows);
  }
}

/** One series for each bucket, of the rows that are wanted. */
export class Timeline {
  readonly #series: Series[];

  constructor(buckets: number) {
    this.#series = Array.from({ length: buckets }, () => new Series());
  }

  add(bucket: number, row: SeriesRow): void {
    this.#series[bucket]?.addRow(row);
  }

  get series(): readonly Series[] {
    return this.#series;
  }

  total(): Series {
    const total = new Series();
    for (const one of this.#series) total.addSeries(one);
    return total;
  }
}

/** Of the hours that are not one record yet. */
async function readOpenMinutes(records: Records): Promise<StoredRecord[]> {
  const [found] = await records.read([MERGED]);
  const { open } = parsed<Merged>(found) ?? NOTHING_MERGED;
  const hours = await Promise.all(open.map((hour) => scanAll(records, minutesOf(hour))));
  return hours.flat();
}

async function readKeys(records: Records, keys: readonly string[]): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (let from = 0; from < keys.length; from += BATCH_ITEMS) {
    const some = await records.read(keys.slice(from, from + BATCH_ITEMS));
    found.push(...some.filter((record) => record !== null));
  }
  return found;
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}

/** The last part of a key is its minute or hour. */
function numberOf({ key }: StoredRecord): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}
