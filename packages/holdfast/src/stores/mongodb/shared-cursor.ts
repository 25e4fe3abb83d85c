/**
 * How far many processes together have come in a line. Under contention one of them looks ahead, without reading
 * the jobs, and cuts what is there into pieces; each call then takes the next pieces for itself by one small
 * write, and reads and claims what is in them. Else every second look would find jobs that somebody else
 * is just taking.
 *
 * It decides nothing: who gets a job is decided where it is claimed. So it is written lightly. Jobs that
 * still wait where pieces were taken some time ago were left there: their taker died, or they came late.
 * They, and all that are to come first, are taken when somebody looks ahead again, which is soon.
 */
import { randomUUID } from "node:crypto";
import { LIGHTLY, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { PLACES, type Head, type Place } from "./line-walk.ts";
import { isDuplicateKey } from "./mongodb-error.ts";
import { LINE_ORDER } from "./placement.ts";

/** Jobs. Who wants fewer does not come here. */
const PIECE = 100;
/** With fewer, calls are in each other's way when they want to look ahead. */
const MOST_PIECES = 400;
/** What was cut longer ago is cut again. */
const GOOD_FOR_MS = 1_000;
/** Whoever took pieces has claimed their jobs by then. */
const CLAIMED_AFTER_MS = 1_000;
const MOST_TRIES = 3;
/** So often nobody else has taken any: there is no contention. */
const ALONE_AFTER = 8;

/** A place in the order of a line. */
interface Spot {
  readonly priority: number;
  readonly seq: number;
}

/** Which jobs of a line: behind `after`, up to `to`. */
export interface Span {
  readonly place: Place;
  readonly priority: number;
  readonly after: number;
  readonly to: number;
}

interface SharedCursor {
  readonly turn: number;
  /** Who took the last pieces. */
  readonly by: string;
  /** Behind this the first piece begins. */
  readonly at: Spot;
  /** Where each piece ends. */
  readonly ends: readonly number[];
  readonly cutAt: number;
  /** Where it was some time ago. */
  readonly before: Spot & { readonly since: number };
  /** All fresh jobs that wait up to here were left. */
  readonly settled: Spot;
}

interface Line {
  readonly queue: string;
  readonly group: string;
}

interface Wanted {
  readonly jobs: number;
  /** How many jobs a document stands for, on average. */
  readonly perDocument: number;
  readonly now: number;
}

export class SharedCursors {
  readonly #me = randomUUID();
  /** By queue: how often nobody else came between. */
  readonly #alone = new Map<string, number>();
  /** By queue: something is to come before the pieces. */
  readonly #doubted = new Set<string>();

  /** The next jobs of this line, for this call alone. Null: there are none, or others were quicker. */
  async advance(db: Database, line: Line, wanted: Wanted): Promise<Span | null> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const isDoubted = this.#doubted.delete(line.queue);
      const taken = isDoubted ? null : await this.#take(db, line, wanted);
      const span = taken ?? (await this.#cut(db, line, wanted));
      if (span !== "missed") return span;
    }
    return null;
  }

  /** Hears with what the line began when this part of it was taken. */
  saw(queue: string, span: Span, heads: readonly Head[]): void {
    const isFirst = ({ head }: Head): boolean =>
      head.priority < span.priority || (!("pack" in head) && head.seq <= span.after);
    if (heads.some(isFirst)) this.#doubted.add(queue);
  }

  /** Has nobody else been there for a while? Then it is forgotten. */
  isAlone(queue: string): boolean {
    const isAlone = (this.#alone.get(queue) ?? 0) >= ALONE_AFTER;
    if (isAlone) this.#alone.delete(queue);
    return isAlone;
  }

  /** Null: no pieces are left. */
  async #take(db: Database, line: Line, { jobs, now }: Wanted): Promise<Span | null> {
    const count = Math.floor(jobs / PIECE);
    const isCut = { "ends.0": { $exists: true }, cutAt: { $gt: now - GOOD_FOR_MS } };
    const last = { $arrayElemAt: [{ $slice: ["$ends", count] }, -1] };
    const isLongAgo = { $lt: ["$before.since", now - CLAIMED_AFTER_MS] };
    const spot = { priority: "$before.priority", seq: "$before.seq" };
    const here = { priority: "$at.priority", seq: last, since: now };
    const taken = {
      turn: { $add: ["$turn", 1] },
      by: { $literal: this.#me },
      "at.seq": last,
      ends: { $slice: ["$ends", count, MOST_PIECES] },
      settled: { $cond: [isLongAgo, spot, "$settled"] },
      before: { $cond: [isLongAgo, here, "$before"] },
    };
    const options = { ...LIGHTLY, returnDocument: "before" };
    const filter = { _id: idOf(line), ...isCut };
    const found = await db.findOneAndUpdate("head", filter, [{ $set: taken }], options);
    if (found === null) return null;
    const { at, ends, by } = found as unknown as SharedCursor;
    const times = by === this.#me ? (this.#alone.get(line.queue) ?? 0) + 1 : 0;
    this.#alone.set(line.queue, times);
    const { priority, seq: after } = at;
    return { place: "fresh", priority, after, to: ends[Math.min(count, ends.length) - 1] ?? after };
  }

  /** Looks ahead, and takes the first pieces of what is there. */
  async #cut(db: Database, line: Line, wanted: Wanted): Promise<Span | "missed" | null> {
    const [cursor = null] = await db.find<SharedCursor>("head", { _id: idOf(line) });
    const entries = await entriesFor(db, line, { cursor, ...wanted });
    const [first] = entries;
    if (first === undefined) return null;
    const { place, priority } = first;
    const pieces = piecesOf(entries);
    const isLeft = place === "jobs" || (cursor !== null && !isBehind(cursor.at, first));
    const own = isLeft ? pieces.length : Math.floor(wanted.jobs / PIECE);
    const to = pieces[Math.min(own, pieces.length) - 1] ?? first.seq;
    const { now } = wanted;
    const at = isLeft ? (cursor?.at ?? { priority, seq: 0 }) : { priority, seq: to };
    const cut: SharedCursor = {
      turn: (cursor?.turn ?? 0) + 1,
      by: this.#me,
      at,
      ...(isLeft ? restOf(cursor) : { ends: pieces.slice(own), cutAt: now }),
      ...marksOf(cursor, at, now),
    };
    if (!(await write(db, line, { cursor, cut }))) return "missed";
    return { place, priority, after: first.seq - 1, to };
  }
}

/** What was left is taken before the pieces, which are as good as before. */
function restOf(cursor: SharedCursor | null): Pick<SharedCursor, "ends" | "cutAt"> {
  return { ends: cursor?.ends ?? [], cutAt: cursor?.cutAt ?? 0 };
}

/** As `#take` does it. */
function marksOf(
  cursor: SharedCursor | null,
  at: Spot,
  now: number,
): Pick<SharedCursor, "before" | "settled"> {
  const here = { ...at, since: now };
  if (cursor === null) return { before: here, settled: { priority: 0, seq: 0 } };
  const { before, settled } = cursor;
  if (before.since >= now - CLAIMED_AFTER_MS) return { before, settled };
  return { before: here, settled: { priority: before.priority, seq: before.seq } };
}

function idOf({ queue, group }: Line): string {
  return JSON.stringify(["cursor", queue, group]);
}

interface Entry extends Spot {
  readonly place: Place;
  /** How many jobs it stands for. */
  readonly n?: number;
}

/** What was left, and if nothing was, what is ahead. All in one place and of one priority. */
async function entriesFor(
  db: Database,
  { queue, group }: Line,
  { cursor, perDocument }: { readonly cursor: SharedCursor | null; readonly perDocument: number },
): Promise<Entry[]> {
  const $limit = Math.ceil((MOST_PIECES * PIECE) / perDocument);
  const [first, ...rest] = looksFor(cursor).map(({ place, range }) => ({
    place,
    stages: [
      { $match: { ready: queue, group, ...range } },
      { $sort: LINE_ORDER },
      { $limit },
      { $project: { _id: 0, priority: 1, seq: 1, n: 1, place: { $literal: place } } },
    ],
  }));
  if (first === undefined) return [];
  const unions = rest.map(({ place, stages }) => db.unionWith(place, stages));
  const found = await db.aggregate<Entry>(first.place, [...first.stages, ...unions]);
  const [head] = found;
  return found.filter((one) => one.place === head?.place && one.priority === head.priority);
}

interface Look {
  readonly place: Place;
  readonly range: Document;
}

/** Of fresh jobs those that are being taken still stand there; of the others none does. */
function looksFor(cursor: SharedCursor | null): readonly Look[] {
  if (cursor === null) return PLACES.map((place) => ({ place, range: {} }));
  const { at, settled } = cursor;
  const { priority, seq } = at;
  const isBetter = { priority: { $lt: priority } };
  return [
    { place: "jobs", range: isBetter },
    { place: "fresh", range: isBetter },
    { place: "jobs", range: { priority, seq: { $lte: seq } } },
    { place: "fresh", range: { priority: settled.priority, seq: { $lte: settled.seq } } },
    { place: "fresh", range: { priority, seq: { $gt: seq } } },
    { place: "fresh", range: { priority: { $gt: priority } } },
  ];
}

/** Where each piece ends: of whole documents, or some would be left. */
function piecesOf(entries: readonly Entry[]): number[] {
  const ends: number[] = [];
  let jobs = 0;
  for (const { seq, n = 1 } of entries) {
    const fits = ends.length > 0 && jobs + n <= PIECE;
    if (fits) ends[ends.length - 1] = seq;
    else ends.push(seq);
    jobs = fits ? jobs + n : n;
  }
  return ends.slice(0, MOST_PIECES);
}

function isBehind(spot: Spot, other: Spot): boolean {
  const isSame = spot.priority === other.priority;
  return isSame ? spot.seq < other.seq : spot.priority < other.priority;
}

/** False: somebody else has changed it. */
async function write(
  db: Database,
  line: Line,
  { cursor, cut }: { readonly cursor: SharedCursor | null; readonly cut: SharedCursor },
): Promise<boolean> {
  const filter = { _id: idOf(line), turn: cursor?.turn ?? { $exists: false } };
  const options = { ...LIGHTLY, upsert: cursor === null };
  try {
    return (await db.findOneAndUpdate("head", filter, { $set: cut }, options)) !== null;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
