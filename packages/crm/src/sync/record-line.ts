/**
 * The line of one record of the CRM: which of its jobs come in which order, and which job wrote what last. Pure: a
 * line in, a line out; `RecordOrder` keeps it in the store.
 */

/**
 * The number orders a line. The rank is the number that counts when values are compared: that of the enqueue, also for
 * a job that joins again later; null for a job that was stored without one. A place is taken before its job is stored:
 * until then it has no id.
 */
export type LinePlace = readonly [number: number, id: string | null, rank: number | null];
/** The rank of the job that wrote a value last, and when that job was made, by the store's clock. */
export type Written = readonly [rank: number, madeAt: number];

export interface RecordLine {
  /** The newest number. It only grows. */
  readonly last: number;
  readonly places: readonly LinePlace[];
  readonly wrote: Readonly<Record<string, Written>>;
}

export interface LineJob {
  readonly id: string;
  readonly meta: Record<string, unknown> | null;
  readonly createdAt: Date;
}

/** More jobs of one record have no place until one becomes free: a record of the store has 64 KiB. */
export const MOST_PLACES = 400;
const MOST_VALUES = 200;

/** Begins with the time, so that numbers of a line that was forgotten are older than those of the next one. */
export function emptyLine(now: number): RecordLine {
  return { last: now, places: [], wrote: {} };
}

/** For a job that is about to be stored. */
export function takePlace(line: RecordLine): RecordLine {
  return joined(line, null, line.last + 1);
}

/** For a job that runs and has none: it was made in a transaction, or others went past it while it was dead. */
export function joinAgain(line: RecordLine, job: LineJob): RecordLine {
  return joined(line, job.id, rankOf(job));
}

export function isFull(line: RecordLine): boolean {
  return line.places.length >= MOST_PLACES;
}

export function namePlace(line: RecordLine, number: number, id: string): RecordLine {
  const places = line.places.map((place): LinePlace =>
    place[0] === number ? [number, id, place[2]] : place,
  );
  return { ...line, places };
}

export function givePlaceBack(line: RecordLine, number: number): RecordLine {
  return { ...line, places: line.places.filter(([one]) => one !== number) };
}

/** To the end: who asks for the same again wants it after what was asked for in between. */
export function moveToEnd(line: RecordLine, id: string): RecordLine {
  const others = line.places.filter(([, one]) => one !== id);
  if (others.length === line.places.length || line.places.at(-1)?.[1] === id) return line;
  return joined({ ...line, places: others }, id, line.last + 1);
}

/** -1: it has no place. */
export function indexInLine(line: RecordLine, job: LineJob): number {
  const rank = rankOf(job);
  return line.places.findIndex(([number, id]) => (id === null ? number === rank : id === job.id));
}

/** Its turn: whatever stood in front of it has finished. */
export function startInLine(line: RecordLine, job: LineJob): RecordLine {
  const [own, ...behind] = line.places.slice(indexInLine(line, job));
  return { ...line, places: own ? [[own[0], job.id, own[2]], ...behind] : [] };
}

/** Those of the values that a newer job has written meanwhile. */
export function staleValues(
  line: RecordLine,
  job: LineJob,
  values: readonly string[],
): ReadonlySet<string> {
  const rank = line.places[indexInLine(line, job)]?.[2] ?? rankOf(job);
  const stale = values.filter((value) => {
    const newest = Object.hasOwn(line.wrote, value) ? line.wrote[value] : undefined;
    if (!newest) return false;
    return rank === null ? newest[1] > job.createdAt.getTime() : newest[0] > rank;
  });
  return new Set(stale);
}

export function noteWritten(line: RecordLine, job: LineJob, values: readonly string[]): RecordLine {
  const [number, , rank] = line.places[indexInLine(line, job)] ?? [line.last, null, rankOf(job)];
  const written: Written = [rank ?? number, job.createdAt.getTime()];
  const all = { ...line.wrote, ...Object.fromEntries(values.map((value) => [value, written])) };
  const newest = Object.entries(all).toSorted(([, a], [, b]) => b[0] - a[0]);
  return { ...line, wrote: Object.fromEntries(newest.slice(0, MOST_VALUES)) };
}

function joined(line: RecordLine, id: string | null, rank: number | null): RecordLine {
  const last = line.last + 1;
  return { ...line, last, places: [...line.places, [last, id, rank]] };
}

function rankOf(job: LineJob): number | null {
  const place = job.meta?.["place"];
  return typeof place === "number" ? place : null;
}
