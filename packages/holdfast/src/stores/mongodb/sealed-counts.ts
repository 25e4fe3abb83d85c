/**
 * Counting finished jobs: what is known of the sealed stretches, and a pass over the rest. The seals are read
 * first, and once more behind the pass. If one that was used was opened meanwhile, a job may have been
 * counted on both sides, or on none: then it is done again.
 */
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { ENDED } from "./schema.ts";
import {
  BEGINNING,
  BREAK_MS,
  isStretch,
  type StretchDocument,
  type WatchDocument,
} from "./stretches.ts";

export type Head = Omit<StretchDocument, "sum"> & { readonly sum?: { readonly documents: number } };

export interface Heads {
  readonly watch: WatchDocument | null;
  /** In their order; none begins before the one before it ends. */
  readonly heads: readonly Head[];
  /** What was joined to the one before it, and waits to be cleared away. */
  readonly covered: readonly Head[];
}

export interface Ways<Row> {
  /** What the sums of these stretches say. */
  readonly sealed: (which: Document) => Promise<Row[]>;
  /** What lies in a range of time, or in all of it. */
  readonly pass: (finishedAt: Document, isAll: boolean) => Promise<Row[]>;
}

const MOST_ROUNDS = 3;
/** Each is a question of its own. */
const MOST_RANGES = 8;

/** All parts together are the rows of one moment. */
export async function rowsOfFinished<Row>(db: Database, ways: Ways<Row>): Promise<Row[]> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { used, ranges } = await sealedNow(db);
    if (used.length === 0) break;
    const _id = { $in: used.map((head) => head._id) };
    const parts = await Promise.all([
      ways.sealed({ _id }),
      ...ranges.map((range) => ways.pass(range, false)),
    ]);
    const { heads } = await readHeads(db);
    const revs = new Map(heads.map((head) => [head._id, head.rev]));
    if (used.every((head) => revs.get(head._id) === head.rev)) return parts.flat();
  }
  return ways.pass(ENDED, true);
}

export async function readHeads(db: Database): Promise<Heads> {
  const projection = { "sum.ended": 0, "sum.dead": 0 };
  const found = await db.find<Head | WatchDocument>("stretches", {}, { projection });
  const heads: Head[] = [];
  const covered: Head[] = [];
  for (const head of found.filter(isStretch).sort((a, b) => a._id - b._id)) {
    const isCovered = head._id < (heads.at(-1)?.to ?? BEGINNING);
    (isCovered ? covered : heads).push(head);
  }
  return { watch: found.find((one) => !isStretch(one)) ?? null, heads, covered };
}

/** Those that are believed, and the ranges between them. */
async function sealedNow(db: Database): Promise<{ used: Head[]; ranges: Document[] }> {
  const [{ watch, heads }, now] = await Promise.all([readHeads(db), db.now()]);
  const used: Head[] = [];
  const ranges: Document[] = [];
  let from = BEGINNING;
  for (const head of watch === null || watch.at < now - BREAK_MS ? [] : heads) {
    if (head.sum === undefined) continue;
    if (head._id > from) {
      if (ranges.length === MOST_RANGES - 1) break;
      ranges.push({ $gte: from, $lt: head._id });
    }
    from = head.to;
    used.push(head);
  }
  return { used, ranges: [...ranges, { $gte: from }] };
}
