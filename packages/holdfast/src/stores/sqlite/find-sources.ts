/**
 * Where `find` looks. Each status has its own rows that know the number of a job, in its order, so that
 * others are not looked at however many there are:
 *
 *     dead, cancelled   their own table, by the index that has fewest
 *     processing        all that run now
 *     queued            the lines of a queue, or all that wait if they are few
 *     succeeded         those of a queue, or the numbers of all that are finished
 *
 * Only what is asked of any status and any queue walks the jobs themselves.
 */
import { JOB_STATUSES, type JobStatus } from "../../core/job.ts";
import type { PageRequest } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { conditionsFor } from "./find-conditions.ts";
import type { Asked, AskedFilter, Columns, Condition } from "./find-conditions.ts";
import { newestInLine } from "./newest-in-line.ts";
import { STATUS_CODES, STATUSES } from "./status-codes.ts";

/** Jobs whose body must be read for an answer, in one step: some ten milliseconds. */
const READ_AT_MOST = 10_000;
/** Entries of an index, in one step. */
const WALK_AT_MOST = 100_000;
/** Numbers that are put in order before the look at them. */
const GATHER_AT_MOST = 50_000;
/** Lines of a queue that are asked one by one. */
const LINES_AT_MOST = 200;
/** To tell which index has fewest. */
const PROBE_AT_MOST = 1_000;

/** Some rows `s` that have a `seq`, and what more they must be asked for. */
export interface Source extends Condition {
  readonly table: string;
  readonly columns: Columns;
  /** What all of its rows have, as the filter wants it. */
  readonly decided: readonly Asked[];
  /** Asked of each row besides the filter. */
  readonly also: readonly Condition[];
  /** How many rows a step looks at, and how many if their bodies must be read. */
  readonly walkAtMost: number;
  readonly readAtMost: number;
  /** It is only a part: nothing is known beyond this number. Null: it is all there is. */
  readonly cutAt: number | null;
}

export interface Look extends AskedFilter {
  readonly db: Connection;
  readonly page: PageRequest;
  /** The cursor. */
  readonly after: number | null;
}

const PLAIN = {
  ...{ sql: "", values: [], columns: {}, decided: [], also: [], cutAt: null },
  ...{ walkAtMost: WALK_AT_MOST, readAtMost: READ_AT_MOST },
} as const satisfies Partial<Source>;

const NOT_FINISHED: Columns = { finishedAt: null };

export function sourcesFor(look: Look, statuses: readonly JobStatus[]): Source[] {
  const isAll = statuses.length === JOB_STATUSES.length;
  if (isAll && look.queue === null) return [everything(statuses)];
  const sources: Source[] = [];
  for (const status of statuses) {
    if (status === "processing") sources.push(PROCESSING);
    else if (status === "queued") sources.push(...queued(look));
    else if (status === "succeeded") sources.push(succeeded(look));
    else sources.push(unhappy(look, STATUS_CODES[status]));
  }
  return sources;
}

/** The jobs themselves. */
function everything(statuses: readonly JobStatus[]): Source {
  const body = { queue: "s.q", group: "s.grp", type: "s.type", tags: "s.tags" };
  const columns: Columns = { ...body, createdAt: "s.created_at" };
  const codes = statuses.map((status) => STATUSES.indexOf(status)).join(", ");
  const isOneOf = `coalesce(d.status, iif(p.seq IS NULL, 0, 4)) IN (${codes})`;
  const isAll = statuses.length === JOB_STATUSES.length;
  const also = isAll ? [] : [{ sql: isOneOf, values: [] }];
  return { ...PLAIN, table: "holdfast_job s", columns, also };
}

/** All that run now are few enough for any question. */
const PROCESSING: Source = {
  ...PLAIN,
  table: "holdfast_leased s",
  columns: {
    queue: "s.q",
    worker: "(SELECT w.name FROM holdfast_worker w WHERE w.w = s.w)",
    finishedAt: null,
  },
  readAtMost: WALK_AT_MOST,
};

// ── queued ──────────────────────────────────────────────────────────────────────────────────────

const WAITING = "SELECT sum(ready), sum(delayed) FROM holdfast_queue";
const WAITING_IN = "SELECT ready, delayed FROM holdfast_queue WHERE q = ?";
const READY = "SELECT seq FROM holdfast_ready";
const READY_IN = `
  SELECT r.seq FROM holdfast_line n CROSS JOIN holdfast_ready r ON r.line = n.line
  WHERE n.q = ? AND n.state <> 0`;
const LATER_IN = "SELECT seq FROM holdfast_later INDEXED BY holdfast_later_due WHERE q = ?";
const LINES = `SELECT line FROM holdfast_line WHERE q = ? AND state <> 0 LIMIT ${LINES_AT_MOST + 1}`;
const LINE = "SELECT line FROM holdfast_line WHERE q = ? AND grp = ?";

function queued(look: Look): Source[] {
  const { db, queue, filter } = look;
  const [ready, delayed] = db
    .rows<[number | null, number | null]>(queue === null ? WAITING : WAITING_IN)
    .get(...(queue === null ? [] : [queue])) ?? [0, 0];
  const sources: Source[] = [];
  // Those that are due but were not moved into their lines yet are there too.
  if ((delayed ?? 0) > 0) sources.push(later(look, delayed ?? 0));
  if ((ready ?? 0) > 0 && filter.delayed !== true) sources.push(readyOf(look, ready ?? 0));
  return sources;
}

function later(look: Look, count: number): Source {
  const { db, queue } = look;
  const columns = { delayed: "s.run_at", attempts: "s.attempts", queue: "s.q", finishedAt: null };
  const isWalked = queue === null || count > GATHER_AT_MOST;
  if (isWalked) return { ...PLAIN, table: "holdfast_later s", columns };
  return listed(look, db.rows<[number]>(LATER_IN).all(queue).flat(), ["queue"]);
}

function readyOf(look: Look, count: number): Source {
  const { db, queue, filter } = look;
  if (filter.retrying === true) {
    const table = "holdfast_due s INDEXED BY holdfast_due_tried";
    const sql = "s.attempts > 0";
    const columns = { delayed: "NULL", finishedAt: null };
    return { ...PLAIN, table, sql, columns, decided: ["attempts"] };
  }
  if (queue === null) {
    const isWalked = count > GATHER_AT_MOST;
    return isWalked ? everything(["queued"]) : listed(look, db.rows<[number]>(READY).all().flat());
  }
  if (filter.group !== undefined) {
    const line = db.value(LINE, queue, filter.group) as number | undefined;
    return newestOf(look, line === undefined ? [] : [line], ["queue", "group"]);
  }
  if (count <= GATHER_AT_MOST) {
    return listed(look, db.rows<[number]>(READY_IN).all(queue).flat(), ["queue"]);
  }
  const lines = db.rows<[number]>(LINES).all(queue).flat();
  return lines.length > LINES_AT_MOST ? everything(["queued"]) : newestOf(look, lines, ["queue"]);
}

/** The first jobs of these lines in the order of the page, as many as one step reads. */
function newestOf(look: Look, lines: readonly number[], decided: readonly Asked[]): Source {
  const { order = "newest", limit } = look.page;
  const isAllDecided = conditionsFor(look, { columns: NOT_FINISHED, decided })?.length === 0;
  const atMost = Math.min(isAllDecided ? limit : READ_AT_MOST, READ_AT_MOST) + 1;
  const seqs = newestInLine(look.db, lines, { order, after: look.after, atMost });
  // One more than the page says that there is more.
  const cutAt = seqs.length < atMost ? null : (seqs.at(-1) ?? null);
  return { ...listed(look, seqs, decided), cutAt };
}

/** Numbers that were gathered: those of the page and beyond, as many as one step reads. */
function listed(look: Look, seqs: readonly number[], decided: readonly Asked[] = []): Source {
  const { page, after } = look;
  const isDown = (page.order ?? "newest") === "newest";
  const left = seqs.filter((seq) => after === null || (isDown ? seq < after : seq > after));
  left.sort((a, b) => (isDown ? b - a : a - b));
  const part = left.slice(0, READ_AT_MOST);
  const cutAt = left.length > part.length ? (part.at(-1) ?? null) : null;
  const table = "(SELECT value AS seq FROM json_each(?)) s";
  return { ...PLAIN, table, values: [JSON.stringify(part)], columns: NOT_FINISHED, decided, cutAt };
}

// ── finished ────────────────────────────────────────────────────────────────────────────────────

const SUCCEEDED = `s.status = ${STATUS_CODES.succeeded}`;
const SUCCEEDED_IN = `
  SELECT s.seq FROM holdfast_done s WHERE s.q = ? AND ${SUCCEEDED}
    AND s.finished_at >= ? AND s.finished_at < ? LIMIT ${GATHER_AT_MOST + 1}`;

const HOW_MANY_SUCCEEDED = "SELECT succeeded FROM holdfast_queue WHERE q = ?";

function succeeded(look: Look): Source {
  const { db, queue, filter, frozenAt } = look;
  const walk = {
    ...PLAIN,
    // This index has the queue, the status and the end of a job in it.
    table: "holdfast_done s INDEXED BY holdfast_done_seq",
    columns: { queue: "s.q", finishedAt: "s.finished_at" },
    also: [{ sql: SUCCEEDED, values: [] }],
  };
  if (queue === null) return walk;
  const isWhole = filter.finishedFrom === undefined && filter.finishedTo === undefined;
  if (isWhole && Number(db.value(HOW_MANY_SUCCEEDED, queue)) > GATHER_AT_MOST) return walk;
  const { finishedFrom = Number.MIN_SAFE_INTEGER, finishedTo = Number.MAX_SAFE_INTEGER } = filter;
  const rows = db.rows<[number]>(SUCCEEDED_IN).all(queue, finishedFrom, finishedTo);
  if (rows.length > GATHER_AT_MOST) return walk;
  const decided: Asked[] = frozenAt === undefined ? ["queue", "finishedAt"] : ["queue"];
  return { ...listed(look, rows.flat(), decided), columns: {} };
}

const UNHAPPY_COLUMNS: Columns = {
  queue: "s.q",
  group: "s.grp",
  type: "s.type",
  category: "s.category",
  fingerprint: "s.fingerprint",
  createdAt: "s.created_at",
  finishedAt: "s.finished_at",
};
const BY_INDEX = ["queue", "group", "type", "category", "fingerprint"] as const;

/** By the index that has fewest of what is asked for. */
function unhappy({ db, queue, filter }: Look, code: number): Source {
  const has = `s.status = ${code}`;
  let best: Source = {
    ...PLAIN,
    ...{ table: "holdfast_unhappy s", sql: has, columns: UNHAPPY_COLUMNS },
    walkAtMost: 2 * WALK_AT_MOST,
  };
  let fewest = Infinity;
  const consider = (source: Source): void => {
    const { table, sql, values } = source;
    const count = Number(
      db.value(
        `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${sql} LIMIT ${PROBE_AT_MOST})`,
        ...values,
      ),
    );
    if (count < fewest) [best, fewest] = [source, count];
  };
  for (const what of BY_INDEX) {
    const value = what === "queue" ? queue : (filter[what] ?? null);
    if (value === null) continue;
    const sql = `${has} AND ${String(UNHAPPY_COLUMNS[what])} = ?`;
    const table = `holdfast_unhappy s INDEXED BY holdfast_unhappy_${what}`;
    consider({ ...best, columns: UNHAPPY_COLUMNS, table, sql, values: [value], decided: [what] });
  }
  if (filter.tag !== undefined) {
    const table = "holdfast_unhappy_tag s";
    const sql = `${has} AND s.tag = ?`;
    consider({ ...PLAIN, table, sql, values: [filter.tag], decided: ["tags"] });
  }
  return best;
}
