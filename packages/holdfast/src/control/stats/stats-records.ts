/**
 * Where statistics are kept. Times are of the store's clock: minutes and hours since the epoch.
 *
 *   holdfast/stats/live/<minute>/<process>    what one process counted in a minute; only it writes it
 *   holdfast/stats/minute/<hour>/<minute>     what the fleet counted in a minute, and which processes are in it
 *   holdfast/stats/hour/<hour>                what it counted in an hour
 *   holdfast/stats/merged                     how far the merge has come
 *
 * What is counted goes down this list, each time by a compare-and-set that says what it took. So a merge that
 * was interrupted is done again, and nothing is counted twice.
 */
import type { Records, StoredRecord } from "../../core/records.ts";
import type { SeriesRow } from "./tally.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
const MINUTES = 60;
/** By minute for so long, then by hour only. */
export const MINUTES_KEPT_MS = 2 * HOUR_MS;
export const HOURS_KEPT_MS = 8 * 24 * HOUR_MS;
/** Whatever is left behind is gone by then. */
export const TTL_MS = HOURS_KEPT_MS + 2 * HOUR_MS;

const ROOT = "holdfast/stats/";
export const LIVE = `${ROOT}live/`;
export const MERGED = `${ROOT}merged`;
const PAGE = 200;

/** Of a process: a minute of it. */
export interface LivePart {
  readonly minute: number;
  readonly process: string;
  readonly version: number;
  readonly rows: readonly SeriesRow[];
}

/** Of the fleet: a minute. */
export interface MinuteRecord {
  /** The processes that are in it. */
  readonly by: readonly string[];
  readonly rows: readonly SeriesRow[];
}

export interface HourRecord {
  /** What came after the hour was closed, as `<minute>/<process>`. */
  readonly late: readonly string[];
  readonly rows: readonly SeriesRow[];
}

export interface Merged {
  /** The last minute that a process has claimed to merge. */
  readonly through: number;
  /** Hours whose minutes are not yet one record. */
  readonly open: readonly number[];
  /** Hours that are one record, while their minutes are still kept. */
  readonly closed: readonly number[];
}

export const NOTHING_MERGED: Merged = { through: 0, open: [], closed: [] };

export const hourOf = (minute: number): number => Math.floor(minute / MINUTES);
export const liveKey = (minute: number, process: string): string => `${LIVE}${minute}/${process}`;
export const minutesOf = (hour: number): string => `${ROOT}minute/${hour}/`;
export const minuteKey = (minute: number): string => minutesOf(hourOf(minute)) + minute;
export const hourKey = (hour: number): string => `${ROOT}hour/${hour}`;

export function livePart({ key, value, version }: StoredRecord): LivePart {
  const name = key.slice(LIVE.length);
  const slash = name.indexOf("/");
  return {
    minute: Number(name.slice(0, slash)),
    process: name.slice(slash + 1),
    version,
    rows: JSON.parse(value) as SeriesRow[],
  };
}

/** Null: there is none. */
export function parsed<Value>(record: StoredRecord | null | undefined): Value | null {
  return record ? (JSON.parse(record.value) as Value) : null;
}

export async function scanAll(records: Records, prefix: string): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Records["scan"]>> = await records.scan({
      ...{ prefix, limit: PAGE, cursor },
    });
    found.push(...page.records);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}
