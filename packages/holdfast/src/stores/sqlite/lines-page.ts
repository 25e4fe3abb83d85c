/** The lines of a queue, for people. */
import { InvalidCursorError } from "../../core/errors.ts";
import { COUNTED_TO, type Hold, type LineState } from "../../core/line.ts";
import type { LinesPage, LinesRequest } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { IDLE, type LineRow } from "./line-book.ts";
import { WHOLE_QUEUE } from "./lines.ts";
import { QueueBook } from "./queue-book.ts";

/** Lines looked at per call; those with nothing to show are passed by. */
const LOOK_AT_MOST = 1_000;

const LINES = `
  SELECT line, q, grp, state, weight, max_active, active, held_until FROM holdfast_line
  WHERE q = ? AND grp > ? ORDER BY grp LIMIT ${LOOK_AT_MOST}`;
const LINES_FROM_START = LINES.replace("grp > ?", "grp >= ?");
const HOLDS = `
  SELECT owner, reason, by_whom AS "by", until, since FROM holdfast_hold
  WHERE q = ? AND line = ? AND (until IS NULL OR until > ?) ORDER BY owner`;
const ACTIVE = "SELECT line, count(*) FROM holdfast_leased WHERE q = ? GROUP BY line";
const WAITING = `
  SELECT count(*) FROM (SELECT 1 FROM holdfast_ready WHERE line = ? LIMIT ${COUNTED_TO})`;
const HEAD = `
  SELECT j.created_at FROM holdfast_ready r CROSS JOIN holdfast_job j ON j.seq = r.seq
  WHERE r.line = ? ORDER BY r.prio, r.seq LIMIT 1`;

export function lines(
  db: Connection,
  name: string,
  { page, now }: { readonly page: LinesRequest; readonly now: number },
): LinesPage {
  const after = page.cursor == null ? null : groupOf(page.cursor);
  const queue = new QueueBook(db).find(name);
  if (queue === null) return { queue: null, lines: [], nextCursor: null };
  const holdsOf = (line: number): Hold[] =>
    db
      .objects<Hold>(HOLDS)
      .all(queue.q, line, now)
      .map((hold) => ({ ...hold }));
  const active = new Map(db.rows<[number, number]>(ACTIVE).all(queue.q));
  const sql = after === null ? LINES_FROM_START : LINES;
  const rows = page.limit > 0 ? db.rows<LineRow>(sql).all(queue.q, after ?? page.from ?? "") : [];
  const shown: LineState[] = [];
  let last: string | null = null;
  for (const row of rows) {
    const state = lineState(db, row, { queue: name, active, holdsOf });
    if (state !== null && shown.length === page.limit) return pageOf(last);
    last = row[2];
    if (state !== null) shown.push(state);
  }
  return pageOf(rows.length === LOOK_AT_MOST ? last : null);

  function pageOf(lastGroup: string | null): LinesPage {
    const { maxActive, maxActivePerGroup, maxWaiting, counts } = queue as NonNullable<typeof queue>;
    const limits = { maxActive, maxActivePerGroup, maxWaiting };
    const holds = holdsOf(WHOLE_QUEUE);
    return {
      queue: { queue: name, ...limits, active: counts.processing, holds },
      lines: shown,
      nextCursor: lastGroup === null ? null : `g:${lastGroup}`,
    };
  }
}

/** Null: not worth a row. */
function lineState(
  db: Connection,
  [line, , group, state, weight, maxActive]: LineRow,
  look: {
    readonly queue: string;
    readonly active: ReadonlyMap<number, number>;
    readonly holdsOf: (line: number) => Hold[];
  },
): LineState | null {
  const waiting = state === IDLE ? 0 : Number(db.value(WAITING, line));
  const active = look.active.get(line) ?? 0;
  const holds = look.holdsOf(line);
  const isPlain = weight === null && maxActive === null && holds.length === 0;
  if (isPlain && waiting === 0 && active === 0) return null;
  const oldestAt = waiting === 0 ? null : (db.value(HEAD, line) as number);
  const settings = { maxActive, weight: weight ?? 1, holds };
  return { queue: look.queue, group, waiting, active, ...settings, oldestAt };
}

function groupOf(cursor: string): string {
  if (cursor.startsWith("g:")) return cursor.slice(2);
  throw new InvalidCursorError("this cursor is not from a page of lines: start again without one");
}
