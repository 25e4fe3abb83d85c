/**
 * Looking. Pages go by the order of insertion. What an index decides is answered in full; for everything
 * else a call looks at a bounded number of jobs, and a page may end short, with a cursor
 * (`find-sources.ts`).
 */
import { InvalidCursorError } from "../../core/errors.ts";
import type { JobStatus } from "../../core/job.ts";
import type { JobFilter, JobPage, PageRequest } from "../../core/store.ts";
import type { Clock } from "./clock.ts";
import {
  ANY_JOB,
  conditionsOf,
  isOneOf,
  joinsFor,
  Query,
  statusesOf,
  whereOf,
  type Wanted,
} from "./find-conditions.ts";
import { isOf, LOOK_AT_MOST, sourcesOf, type Source } from "./find-sources.ts";
import { summaries } from "./job-view.ts";
import { BLOCK_BITS } from "./queue-blocks.ts";
import type { Asker, QueueBook } from "./queue-book.ts";
import { number, numbers } from "./row-values.ts";

/** Of a queue with few jobs among many others: some ten milliseconds. */
const MOST_BLOCKS = 100;

/** Whoever can ask for statements that were put together for one call. */
export interface FreeAsker extends Asker {
  rowsOnce: Asker["rows"];
}

export interface FindOptions {
  readonly db: FreeAsker;
  readonly queues: QueueBook;
  readonly clock: Clock;
}

export async function find(
  options: FindOptions,
  filter: JobFilter,
  page: PageRequest,
): Promise<JobPage> {
  const { seqs, nextCursor } = await pageOfSeqs(options, filter, { page });
  const isBare = page.without === "payloads";
  return { jobs: await summaries(options.db, seqs, { clock: options.clock, isBare }), nextCursor };
}

interface Look {
  readonly page: PageRequest;
  /** Jobs created or finished after this are left out. */
  readonly frozenAt?: number;
}

interface PageOfSeqs {
  readonly seqs: readonly number[];
  readonly nextCursor: string | null;
}

const NOTHING: PageOfSeqs = { seqs: [], nextCursor: null };

/** The numbers of the jobs of a page, in its order. */
export async function pageOfSeqs(
  { db, queues, clock }: FindOptions,
  filter: JobFilter,
  look: Look,
): Promise<PageOfSeqs> {
  const { limit, cursor = null, order = "newest" } = look.page;
  const after = cursor === null ? null : seqOf(cursor, order);
  const q = filter.queue === undefined ? null : await queues.find(filter.queue);
  const statuses = statusesOf(filter);
  const isUnknown = filter.queue !== undefined && q === null;
  if (limit <= 0 || isUnknown || statuses.length === 0) return NOTHING;
  const walk: Walk = { order, after, limit, filter, q, clock, frozenAt: look.frozenAt };
  const sources = await sourcesOf(db, statuses, walk);
  if (sources === "all jobs") return merge([await walkJobs(db, walk, statuses)], walk);
  if (sources === "blocks") return merge([await walkBlocks(db, walk, statuses)], walk);
  const parts: Part[] = [];
  for (const sourceOf of sources) {
    const query = new Query();
    const source = sourceOf(query);
    parts.push(await (source.isFull ? walkFull : walkSome)(db, walk, { query, source }));
  }
  return merge(parts, walk);
}

/** Those of these jobs that the filter matches now. */
export async function stillMatching(
  { db, queues, clock }: FindOptions,
  filter: JobFilter,
  { seqs, frozenAt }: { readonly seqs: readonly number[]; readonly frozenAt: number },
): Promise<number[]> {
  if (seqs.length === 0) return [];
  const q = filter.queue === undefined ? null : await queues.find(filter.queue);
  const query = new Query();
  const mine = `SELECT u.seq FROM unnest(${query.value([...seqs])}::bigint[]) AS u (seq)`;
  const wanted = conditionsOf(query, { filter, q, clock, frozenAt }, { words: ANY_JOB });
  wanted.push(isOneOf(statusesOf(filter)));
  const rows = await db.rowsOnce(
    `SELECT w.seq FROM (${mine}) w ${joinsFor("w", wanted)} ${whereOf(wanted)}`,
    query.values,
  );
  return rows.map((row) => number(row, 0));
}

interface Walk extends Wanted {
  readonly order: "newest" | "oldest";
  /** The cursor. */
  readonly after: number | null;
  readonly limit: number;
}

interface Part {
  readonly seqs: readonly number[];
  /** Nothing is known beyond this one; null if there is nothing beyond. */
  readonly end: number | null;
}

interface Rows {
  readonly query: Query;
  readonly source: Source;
}

/** Whatever it takes: the index leads to what is wanted, or the rows are few. */
async function walkFull(db: FreeAsker, walk: Walk, { query, source }: Rows): Promise<Part> {
  const { direction, past } = wayOf(walk, query);
  const wanted = [
    ...source.range,
    ...source.rest,
    ...conditionsOf(query, walk, source),
    ...past("s"),
  ];
  const rows = await db.rowsOnce(
    `SELECT s.seq FROM ${source.table} s ${joinsFor("s", wanted)} ${whereOf(wanted)}
     ORDER BY s.seq ${direction} LIMIT ${walk.limit + 1}`,
    query.values,
  );
  return { seqs: rows.map((row) => number(row, 0)), end: null };
}

async function walkSome(db: FreeAsker, walk: Walk, { query, source }: Rows): Promise<Part> {
  const { direction, past } = wayOf(walk, query);
  const behind = past("s");
  const rest = [...source.rest, ...conditionsOf(query, walk, source)];
  const size = rest.length === 0 ? walk.limit + 1 : LOOK_AT_MOST;
  const table = source.table
    .replace("/*past*/", behind.map((one) => `AND ${one}`).join(""))
    .replaceAll("/*order*/", direction)
    .replace("/*size*/", String(size));
  const looked = `SELECT s.seq FROM ${table} s ${whereOf([...source.range, ...behind])}
    ORDER BY s.seq ${direction} LIMIT ${size}`;
  return lookAt(db, walk, { query, rest, size, looked });
}

async function walkJobs(db: FreeAsker, walk: Walk, statuses: readonly JobStatus[]): Promise<Part> {
  const source = { table: "holdfast.job", range: [], decided: [], isFull: false, words: ANY_JOB };
  return walkSome(db, walk, { query: new Query(), source: { ...source, rest: isOf(statuses) } });
}

async function lookAt(
  db: FreeAsker,
  walk: Walk,
  how: {
    readonly query: Query;
    readonly rest: readonly string[];
    readonly size: number;
    readonly looked: string;
  },
): Promise<Part> {
  const { query, rest, size, looked } = how;
  const isDown = walk.order === "newest";
  const [row] = await db.rowsOnce(
    `WITH looked AS MATERIALIZED (${looked})
     SELECT (SELECT count(*) FROM looked), (SELECT ${isDown ? "min" : "max"}(seq) FROM looked), ARRAY(
       SELECT w.seq FROM looked w ${joinsFor("w", rest)} ${whereOf(rest)}
       ORDER BY w.seq ${isDown ? "DESC" : "ASC"} LIMIT ${walk.limit + 1})`,
    query.values,
  );
  if (row === undefined) throw new Error("a page without a row");
  const isWhole = number(row, 0) < size;
  return { seqs: numbers(row, 2), end: isWhole ? null : number(row, 1) };
}

/** The jobs of one queue, block by block. The loop over blocks keeps their order. */
async function walkBlocks(
  db: FreeAsker,
  walk: Walk,
  statuses: readonly JobStatus[],
): Promise<Part> {
  const isDown = walk.order === "newest";
  const query = new Query();
  const { direction, past } = wayOf(walk, query);
  const q = query.value(walk.q);
  const from =
    walk.after === null
      ? ""
      : `AND b.block ${isDown ? "<=" : ">="} ${query.value(Math.floor(walk.after / 2 ** BLOCK_BITS))}`;
  const rest = [
    ...isOf(statuses),
    ...conditionsOf(query, walk, { words: ANY_JOB, decided: ["q"] }),
  ];
  const size = rest.length === 0 ? walk.limit + 1 : LOOK_AT_MOST;
  const mine = [
    `s.q = ${q}`,
    `s.seq >= b.block << ${BLOCK_BITS}`,
    `s.seq < (b.block + 1) << ${BLOCK_BITS}`,
  ];
  const [row] = await db.rowsOnce(
    `WITH blocks AS MATERIALIZED (
       SELECT DISTINCT ON (b.q, b.block) b.block FROM holdfast.queue_block b WHERE b.q = ${q} ${from}
       ORDER BY b.q ${direction}, b.block ${direction} LIMIT ${MOST_BLOCKS}),
     looked AS MATERIALIZED (
       SELECT s.seq FROM blocks b CROSS JOIN LATERAL (
         SELECT s.seq FROM holdfast.job s ${whereOf([...mine, ...past("s")])}
         ORDER BY s.seq ${direction} LIMIT ${size}) s LIMIT ${size})
     SELECT (SELECT count(*) FROM looked), (SELECT ${isDown ? "min" : "max"}(seq) FROM looked), ARRAY(
       SELECT w.seq FROM looked w ${joinsFor("w", rest)} ${whereOf(rest)}
       ORDER BY w.seq ${direction} LIMIT ${walk.limit + 1}),
       (SELECT count(*) FROM blocks),
       (SELECT ${isDown ? `min(block) << ${BLOCK_BITS}` : `((max(block) + 1) << ${BLOCK_BITS}) - 1`} FROM blocks)`,
    query.values,
  );
  if (row === undefined) throw new Error("a page without a row");
  const seqs = numbers(row, 2);
  if (number(row, 0) >= size) return { seqs, end: number(row, 1) };
  return { seqs, end: number(row, 3) < MOST_BLOCKS ? null : number(row, 4) };
}

function wayOf({ order, after }: Walk, query: Query) {
  const isDown = order === "newest";
  return {
    direction: isDown ? "DESC" : "ASC",
    past: (row: string): string[] =>
      after === null ? [] : [`${row}.seq ${isDown ? "<" : ">"} ${query.value(after)}`],
  };
}

/** One page from the pages of several sources: only as far as all of them have looked. */
function merge(parts: readonly Part[], { order, limit }: Walk): PageOfSeqs {
  const isBefore = (a: number, b: number): boolean => (order === "newest" ? a > b : a < b);
  const ends = parts.flatMap(({ end, seqs }) => {
    const lastSeen = seqs.length > limit ? (seqs.at(-1) ?? null) : null;
    return [end, lastSeen].filter((seq) => seq !== null);
  });
  const end = ends.length === 0 ? null : ends.reduce((a, b) => (isBefore(a, b) ? a : b));
  const seqs = [...new Set(parts.flatMap((part) => part.seqs))]
    .filter((seq) => end === null || seq === end || isBefore(seq, end))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1));
  const shown = seqs.slice(0, limit);
  const last = seqs.length > limit ? (shown.at(-1) ?? null) : end;
  return { seqs: shown, nextCursor: last === null ? null : cursorOf(last, order) };
}

function cursorOf(seq: number, order: "newest" | "oldest"): string {
  return `${order === "newest" ? "n" : "o"}:${seq}`;
}

function seqOf(cursor: string, order: "newest" | "oldest"): number {
  const seq = Number(cursor.slice(2));
  if (Number.isSafeInteger(seq) && cursor === cursorOf(seq, order)) return seq;
  throw new InvalidCursorError(
    "this cursor is not from a page of this order: start again without one",
  );
}
