/** The lines of a queue, for people. */
import { InvalidCursorError } from "../../core/errors.ts";
import { COUNTED_TO, type Hold, type LineState, type QueueState } from "../../core/line.ts";
import type { LinesPage, LinesRequest } from "../../core/store.ts";
import type { Database, Row } from "./database.ts";
import { clockUs, msOf } from "./clock.ts";
import { moveDue } from "./move-due.ts";
import { IS_KNOWN } from "./tally.ts";
import type { QueueBook } from "./queue-book.ts";
import { isTrue, number, numberOrNull, text, textOrNull } from "./row-values.ts";

/** Due jobs moved into their lines before a look at them, at most. */
const MOVE_DUE_AT_MOST = 1_000;

const HOLDS = `(SELECT json_agg(json_build_object('owner', h.owner, 'reason', h.reason,
    'by', h.by_whom, 'until', h.until, 'since', h.since) ORDER BY h.owner)
  FROM holdfast.hold h
  WHERE h.q = $1 AND (h.until IS NULL OR h.until > $2) AND`;
const QUEUE = `
  SELECT q.max_active, q.max_active_per_group, q.max_waiting,
    (SELECT count(*) FROM holdfast.leased l WHERE l.q = q.q), ${HOLDS} h.is_queue)
  FROM holdfast.queue q WHERE q.q = $1 AND ${IS_KNOWN}`;
/** The next group of a queue in the order of groups, whatever makes it worth a row. */
const NEXT = (after: string): string => `
  SELECT min(g) FROM (
    (SELECT r.grp AS g FROM holdfast.ready r WHERE r.q = $1 AND r.grp ${after}
      ORDER BY r.q, r.grp LIMIT 1) UNION ALL
    (SELECT l.grp FROM holdfast.leased l WHERE l.q = $1 AND l.grp ${after}
      ORDER BY l.q, l.grp LIMIT 1) UNION ALL
    (SELECT s.grp FROM holdfast.line s WHERE s.q = $1 AND s.grp ${after}
      AND (s.weight IS NOT NULL OR s.max_active IS NOT NULL OR s.held_until > $2)
      ORDER BY s.q, s.grp LIMIT 1)) n`;
const LINES = `
  WITH RECURSIVE walk AS (
    SELECT (${NEXT(">= $3")}) AS grp, 1 AS step
    UNION ALL
    SELECT (${NEXT("> w.grp")}), w.step + 1 FROM walk w WHERE w.grp IS NOT NULL AND w.step <= $4)
  SELECT x.grp,
    (SELECT count(*) FROM (SELECT 1 FROM holdfast.ready r WHERE r.q = x.q AND r.grp = x.grp
      LIMIT ${COUNTED_TO}) c),
    (SELECT count(*) FROM holdfast.leased l WHERE l.q = x.q AND l.grp = x.grp),
    s.max_active, s.weight, ${HOLDS} NOT h.is_queue AND h.grp = x.grp),
    (SELECT j.created_at FROM holdfast.ready r JOIN holdfast.job j ON j.seq = r.seq
      WHERE r.q = x.q AND r.grp = x.grp ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1)
  FROM (SELECT $1::integer AS q, w.grp, w.step FROM walk w WHERE w.grp IS NOT NULL) x
  LEFT JOIN holdfast.line s ON s.q = x.q AND s.grp = x.grp
  ORDER BY x.step`;
const LOOK = `
  SELECT n.us, EXISTS (
    SELECT 1 FROM holdfast.delayed d WHERE d.q = $2 AND d.run_at <= n.us / 1000)
  FROM (SELECT ${clockUs("$1::bigint")} AS us OFFSET 0) n`;

export async function lines(
  { db, queues }: { readonly db: Database; readonly queues: QueueBook },
  name: string,
  page: LinesRequest,
): Promise<LinesPage> {
  const after = page.cursor == null ? null : groupOf(page.cursor);
  const q = await queues.find(name);
  if (q === null) return { queue: null, lines: [], nextCursor: null };
  const { clock } = db.options;
  const [look] = await db.rows(LOOK, [clock.seen, q]);
  if (look === undefined) throw new Error("a statement without a row");
  clock.saw(number(look, 0));
  const now = msOf(clock.seen);
  // A line may have nothing but jobs that have just become due.
  if (isTrue(look, 1)) await moveDue(db, q, { now, atMost: MOVE_DUE_AT_MOST });
  const [row] = await db.rows(QUEUE, [q, now]);
  if (row === undefined) return { queue: null, lines: [], nextCursor: null };
  const queue = queueState(name, row);
  if (page.limit <= 0) return { queue, lines: [], nextCursor: null };
  // The smallest text behind a group is the group and the smallest character that text may hold.
  const from = after === null ? (page.from ?? "") : `${after}\u0001`;
  const rows = await db.rows(LINES, [q, now, from, page.limit]);
  const shown = rows.slice(0, page.limit).map((line) => lineState(name, line));
  const last = rows.length > page.limit ? shown.at(-1) : undefined;
  return { queue, lines: shown, nextCursor: last === undefined ? null : `g:${last.group}` };
}

function queueState(queue: string, row: Row): QueueState {
  return {
    queue,
    maxActive: numberOrNull(row, 0),
    maxActivePerGroup: numberOrNull(row, 1),
    maxWaiting: numberOrNull(row, 2),
    active: number(row, 3),
    holds: holdsOf(textOrNull(row, 4)),
  };
}

function lineState(queue: string, row: Row): LineState {
  return {
    queue,
    group: text(row, 0),
    waiting: number(row, 1),
    active: number(row, 2),
    maxActive: numberOrNull(row, 3),
    weight: numberOrNull(row, 4) ?? 1,
    holds: holdsOf(textOrNull(row, 5)),
    oldestAt: numberOrNull(row, 6),
  };
}

function holdsOf(json: string | null): Hold[] {
  return json === null ? [] : (JSON.parse(json) as Hold[]);
}

function groupOf(cursor: string): string {
  if (cursor.startsWith("g:")) return cursor.slice(2);
  throw new InvalidCursorError("this cursor is not from a page of lines: start again without one");
}
