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
import { isDisowned } from "./disown.ts";
import type { OperateOptions } from "./change-each.ts";
import { CLOCK_US, PINNED } from "./pinned.ts";
import { isPromised } from "./promises.ts";
import { isTrue, number } from "./row-values.ts";
import { TAKEN_BACK, takenBack, type TakenBack } from "./take-back.ts";
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

CREATE OR REPLACE FUNCTION holdfast.reap(p_seen bigint, p_limit integer) RETURNS TABLE (${TAKEN_BACK})
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_us bigint := ${CLOCK_US};
  v_now bigint := v_us / 1000;
  v_seqs bigint[];
  v_charged boolean[];
BEGIN
  v_seqs := holdfast.lock_expired(v_now, p_limit);
  -- The whole condition again, on the rows themselves.
  SELECT array_agg(l.seq ORDER BY l.until, l.seq), array_agg((l.crashes = 0 OR l.is_started)
    AND NOT ${isDisowned("v_now")} ORDER BY l.until, l.seq)
  INTO v_seqs, v_charged
  FROM holdfast.leased l WHERE l.seq = ANY (v_seqs) AND l.until <= v_now
    AND NOT ${isPromised("v_now")};
  IF v_seqs IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT * FROM holdfast.take_back(v_us, v_seqs, v_charged);
END $$;
`;
const LOOK = "SELECT * FROM holdfast.look_around($1)";
const MOVE_ALL_DUE = "SELECT holdfast.move_all_due($1, $2)";
const MARK = "UPDATE holdfast.head SET clock = $1 WHERE clock < $1";
const REAP = "SELECT * FROM holdfast.reap($1, $2)";

export interface Reaped {
  readonly jobs: ReapedJob[];
  readonly woken: ReadonlySet<number>;
  readonly finished: readonly string[];
}

export async function reap(
  { db, queues, clock }: OperateOptions,
  { limit }: { readonly limit: number },
  upkeep: Upkeep,
): Promise<Reaped> {
  const [look] = await db.rows(LOOK, [clock.seen]);
  if (look === undefined) throw new Error("look_around answered nothing");
  const micros = number(look, 0);
  clock.saw(micros);
  if (micros - number(look, 3) > MARK_EVERY_US) await db.rows(MARK, [micros]);
  void upkeep.look(number(look, 4));
  if (isTrue(look, 2)) await db.rows(MOVE_ALL_DUE, [msOf(micros), MOVE_DUE_AT_MOST]);
  if (isTrue(look, 5)) await db.rows(FOLD_TALLY);
  if (limit <= 0 || !isTrue(look, 1)) return { jobs: [], woken: new Set(), finished: [] };
  const { jobs, ...owed } = takenBack(await db.rows(REAP, [clock.seen, limit]), clock);
  const names = await queues.names(jobs.map(({ q }) => q));
  return { jobs: jobs.map((job) => reapedJob(job, names)), ...owed };
}

function reapedJob(
  { q, isCharged, isCancelled, ...job }: TakenBack,
  names: ReadonlyMap<number, string>,
): ReapedJob {
  const status = isCancelled ? "cancelled" : "queued";
  return { ...job, queue: names.get(q) ?? "", charged: isCharged, status };
}
