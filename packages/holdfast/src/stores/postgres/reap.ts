/**
 * Reaping: leases that ran out, the longest expired first. It kills nothing: who has crashed too often
 * is decided at the next lease.
 *
 * A job that has crashed before is charged only if its holder said that it starts (`is_started`): until
 * then it waited. Nobody is charged for what a worker has disowned (`disown.ts`).
 *
 * Every worker calls this about once a second and nearly always there is nothing to do. So it looks
 * first, and while it looks it carries the clock's mark between processes (`clock.ts`).
 */
import type { ReapedJob } from "../../core/store.ts";
import { msOf } from "./clock.ts";
import type { Database, Row } from "./database.ts";
import { isDisowned } from "./disown.ts";
import { LEASED_COLUMNS, leaseOf } from "./held-lease.ts";
import { bodyOf, CLOCK_US, PINNED } from "./pinned.ts";
import { isPromised } from "./promises.ts";
import type { QueueBook } from "./queue-book.ts";
import { isTrue, number, numbers } from "./row-values.ts";
import { takeBack, type EndedLease } from "./take-back.ts";
import { FOLD_TALLY, IS_TALLY_LONG } from "./tally.ts";
import { DEAD_ROWS, type Upkeep } from "./upkeep.ts";

/** Due jobs moved per call, so that those of a held queue do not pile up for `count`. */
const MOVE_DUE_AT_MOST = 1_000;
const LONGEST_WAIT_MS = 20;
/** How far the mark may lag behind the clock. */
const MARK_EVERY_US = 1_000_000;

const EXPIRED = `SELECT l.seq FROM holdfast.leased l WHERE l.until <= p_now
    AND NOT ${isPromised("p_now")} ORDER BY l.until, l.seq LIMIT p_limit FOR UPDATE`;

/**
 * The look is a function, like everything that runs all day: as a plain statement it was thought
 * expensive enough to be compiled, which took a fifth of a second, every second, for every worker.
 */
export const REAP_FUNCTIONS = `
CREATE OR REPLACE FUNCTION holdfast.look_around(p_seen bigint, OUT now_us bigint,
  OUT is_any boolean, OUT is_due boolean, OUT mark bigint, OUT dead_rows bigint, OUT is_long boolean)
LANGUAGE plpgsql
${PINNED}
AS $$
BEGIN
  mark := (SELECT h.clock FROM holdfast.head h WHERE h.one);
  p_seen := greatest(p_seen, mark);
  now_us := ${CLOCK_US};
  is_any := EXISTS (SELECT 1 FROM holdfast.leased l WHERE l.until <= now_us / 1000);
  is_due := now_us / 1000 >= (
    SELECT d.run_at FROM holdfast.delayed d ORDER BY d.run_at, d.seq LIMIT 1);
  is_long := ${IS_TALLY_LONG};
  dead_rows := ${DEAD_ROWS};
END $$;

-- The longest expired first. One that somebody has locked for a moment (its holder who renews, an
-- operator) is waited for. A caller's own transaction that settles it may stay open for long, and a
-- process may be stopped half way: then those that are locked are left to the next call. What was
-- promised to the holder of such a job holds as well when that transaction has ended.
CREATE OR REPLACE FUNCTION holdfast.lock_expired(p_now bigint, p_limit integer) RETURNS bigint[]
LANGUAGE plpgsql
${PINNED} SET lock_timeout = ${LONGEST_WAIT_MS}
AS $$
BEGIN
  RETURN ARRAY(${EXPIRED});
EXCEPTION WHEN lock_not_available THEN
  RETURN ARRAY(${EXPIRED} SKIP LOCKED);
END $$;
`;
const LOOK = "SELECT * FROM holdfast.look_around($1)";
const MOVE_ALL_DUE = "SELECT holdfast.move_all_due($1, $2)";
const MARK = "UPDATE holdfast.head SET clock = $1 WHERE clock < $1";
const LOCK_EXPIRED = "SELECT holdfast.lock_expired($1, $2)";
/** The whole condition again, on the rows themselves. */
const END = `
  WITH ended AS (DELETE FROM holdfast.leased l WHERE l.seq = ANY ($1) AND l.until <= $2
    AND NOT ${isPromised("$2")} RETURNING *)
  SELECT ${LEASED_COLUMNS}, l.until, (l.crashes = 0 OR l.is_started) AND NOT ${isDisowned("$2")}
  FROM ended l ${bodyOf("l")} AS j`;
const UNTIL_COLUMN = 20;
const CHARGED_COLUMN = 21;

export interface Reaped {
  readonly jobs: ReapedJob[];
  readonly woken: ReadonlySet<number>;
  readonly finished: readonly string[];
}

export async function reap(
  db: Database,
  { limit }: { readonly limit: number },
  { queues, upkeep }: { readonly queues: QueueBook; readonly upkeep: Upkeep },
): Promise<Reaped> {
  const { clock } = db.options;
  const [look] = await db.rows(LOOK, [clock.seen]);
  if (look === undefined) throw new Error("look_around answered nothing");
  const micros = number(look, 0);
  clock.saw(micros);
  if (micros - number(look, 3) > MARK_EVERY_US) await db.rows(MARK, [micros]);
  void upkeep.look(number(look, 4));
  if (isTrue(look, 2)) await db.rows(MOVE_ALL_DUE, [msOf(micros), MOVE_DUE_AT_MOST]);
  if (isTrue(look, 5)) await db.rows(FOLD_TALLY);
  if (limit <= 0 || !isTrue(look, 1)) return { jobs: [], woken: new Set(), finished: [] };
  const { leases, ...owed } = await db.transaction(async (tx) => {
    const [locked] = await tx.rows(LOCK_EXPIRED, [tx.now, limit]);
    const rows = locked === undefined ? [] : await tx.rows(END, [numbers(locked, 0), tx.now]);
    rows.sort(byEnd);
    const expired = await takeBack(
      tx,
      rows.map((row) => ({ ...leaseOf(row), isCharged: isTrue(row, CHARGED_COLUMN) })),
    );
    return { leases: expired, woken: tx.woken, finished: tx.finished };
  });
  const names = await queues.names(leases.map(({ q }) => q));
  return { jobs: leases.map((lease) => reapedJob(lease, names)), ...owed };
}

function byEnd(a: Row, b: Row): number {
  return number(a, UNTIL_COLUMN) - number(b, UNTIL_COLUMN) || number(a, 0) - number(b, 0);
}

function reapedJob(lease: EndedLease, names: ReadonlyMap<number, string>): ReapedJob {
  const { id, group, type, worker, attempts, crashes, isCharged, isCancelAsked } = lease;
  const queue = names.get(lease.q) ?? "";
  const status = isCancelAsked ? "cancelled" : "queued";
  return { id, queue, group, type, worker, attempts, crashes, charged: isCharged, status };
}
