/**
 * Leases that end without a word of their holders: reaped, or disowned. The fence moves on, or the old
 * holder's late settle would look like the repeat of one that happened.
 *
 * A charged one has crashed: that is recorded, and its attempt stays spent. One that is not charged goes
 * back as if it had been released.
 *
 * All of it happens inside the database, in the call that has locked the leases. A transaction of a dozen
 * round trips would keep them locked for as long as a slow process takes for those, and nobody else could
 * free the jobs of a dead worker meanwhile.
 */
import { HISTORY_LENGTH } from "../../core/job.ts";
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import type { Clock } from "./clock.ts";
import type { Row } from "./database.ts";
import { UNTIL_FINISHED } from "./keys.ts";
import { bodyOf, eachOf, PINNED } from "./pinned.ts";
import { HAS_KEY, HAS_PAST, STATUS_CODES } from "./placement.ts";
import { isTrue, number, text } from "./row-values.ts";

/** The leases, which the caller has locked: they stay as they are until they are deleted. */
const LEASES = `unnest(p_seqs, p_charged) AS u (seq, is_charged)
    ${eachOf("SELECT * FROM holdfast.leased x WHERE x.seq = u.seq")} AS l`;
const IS_LATER = "coalesce(l.run_at > v_now, false)";
/** How a job goes on, in the order of `COLUMNS`. */
const COLUMNS = "seq, q, max_attempts, settled_fence, run_at, attempts, crashes, fence, flags";
const MOVED = `l.seq, l.q, l.max_attempts, l.settled_fence, l.run_at,
    l.attempts - CASE WHEN u.is_charged THEN 0 ELSE l.spent END,
    l.crashes + u.is_charged::integer, greatest(l.fence + 1, p_us), l.flags | ${HAS_PAST}`;

function placeAmong(table: "ready" | "delayed", condition: string): string {
  return `INSERT INTO holdfast.${table} (${COLUMNS}, grp, prio)
  SELECT ${MOVED}, l.grp, l.prio FROM ${LEASES} WHERE NOT l.cancel_asked AND ${condition}`;
}

function note(first: string, second: string, values: string, condition: string): string {
  return `INSERT INTO holdfast.job_details (seq, updated_at, ${first}, ${second})
  SELECT l.seq, v_now, ${values} FROM ${LEASES} WHERE ${condition}
  ON CONFLICT (seq) DO UPDATE SET updated_at = excluded.updated_at, ${first} = excluded.${first},
    ${second} = excluded.${second}`;
}

/** What both functions answer that end leases: a row for each, in the order in which they were named. */
export const TAKEN_BACK = `now_us bigint, q integer, id uuid, grp text, type text, worker text,
  attempts integer, crashes integer, is_charged boolean, is_cancelled boolean, is_woken boolean`;

export const TAKE_BACK_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.take_back(p_us bigint, p_seqs bigint[], p_charged boolean[])
RETURNS TABLE (${TAKEN_BACK})
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_now bigint := p_us / 1000;
BEGIN
  INSERT INTO holdfast.attempt (seq, n, fence, started_at, ended_at, attempt, worker, outcome)
  SELECT l.seq, 1 + coalesce((SELECT max(a.n) FROM holdfast.attempt a WHERE a.seq = l.seq), 0),
    l.fence, l.leased_at, v_now, l.attempts, l.worker, 'crashed'
  FROM ${LEASES} WHERE u.is_charged;
  DELETE FROM holdfast.attempt a WHERE a.seq = ANY (p_seqs)
    AND a.n <= (SELECT max(x.n) FROM holdfast.attempt x WHERE x.seq = a.seq) - ${HISTORY_LENGTH};
  ${note("started_at", "worker", "l.leased_at, l.worker", "NOT l.cancel_asked")};
  ${note("reason", "by_whom", "l.cancel_reason, l.cancel_by", "l.cancel_asked")};

  ${placeAmong("ready", `NOT ${IS_LATER}`)};
  ${placeAmong("delayed", IS_LATER)};
  -- Whoever was asked to cancel ends here, and takes along what people look for it by.
  INSERT INTO holdfast.done (${COLUMNS}, status, finished_at, started_at, worker, result_dropped,
    id, grp, type, tags, created_at, category, fingerprint)
  SELECT ${MOVED}, ${STATUS_CODES.cancelled}, v_now, l.leased_at, l.worker, false,
    j.id, j.grp, j.type, j.tags, j.created_at, t.category, t.fingerprint
  FROM ${LEASES} ${bodyOf("l")} AS j
  ${eachOf("SELECT * FROM holdfast.job_details x WHERE x.seq = l.seq")} AS t WHERE l.cancel_asked;
  DELETE FROM holdfast.key k WHERE k.ctid = ANY (ARRAY(
    SELECT k.ctid FROM ${LEASES} ${bodyOf("l")} AS j
    JOIN holdfast.key k ON k.q = j.q AND k.key = j.key AND k.id = j.id
    WHERE l.cancel_asked AND l.flags & ${HAS_KEY} <> 0 AND j.key_life = ${UNTIL_FINISHED}));

  -- A line that was full is open again, and so is one that was empty.
  PERFORM holdfast.open_lines(array_agg(l.q), array_agg(l.grp)) FROM ${LEASES};
  PERFORM holdfast.count_up(false, array_agg(c.q), array_agg(c.ready), array_agg(c.delayed),
    NULL, NULL, array_agg(c.cancelled))
  FROM (SELECT l.q, count(*) FILTER (WHERE NOT l.cancel_asked AND NOT ${IS_LATER}) AS ready,
      count(*) FILTER (WHERE NOT l.cancel_asked AND ${IS_LATER}) AS delayed,
      count(*) FILTER (WHERE l.cancel_asked) AS cancelled
    FROM ${LEASES} GROUP BY l.q) c;

  RETURN QUERY
  WITH ended AS (DELETE FROM holdfast.leased x WHERE x.seq = ANY (p_seqs) RETURNING x.*)
  SELECT p_us, l.q, j.id, l.grp, j.type, l.worker,
    l.attempts - CASE WHEN u.is_charged THEN 0 ELSE l.spent END,
    l.crashes + u.is_charged::integer, u.is_charged, l.cancel_asked,
    (NOT l.cancel_asked AND coalesce(l.run_at, 0) <= v_now + ${WAKE_AHEAD_MS})
      OR (SELECT x.has_caps FROM holdfast.queue x WHERE x.q = l.q)
  FROM unnest(p_seqs, p_charged) WITH ORDINALITY AS u (seq, is_charged, n)
  JOIN ended l ON l.seq = u.seq ${bodyOf("l")} AS j ORDER BY u.n;
END $$;
`;

export interface TakenBack {
  /** The number of its queue. */
  readonly q: number;
  readonly id: string;
  readonly group: string;
  readonly type: string;
  readonly worker: string;
  readonly attempts: number;
  readonly crashes: number;
  readonly isCharged: boolean;
  readonly isCancelled: boolean;
}

export interface AllTakenBack {
  readonly jobs: readonly TakenBack[];
  /** Queues in which there may be something to lease. */
  readonly woken: ReadonlySet<number>;
  readonly finished: readonly string[];
}

/** `TAKEN_BACK`, as it arrives. */
export function takenBack(rows: readonly Row[], clock: Clock): AllTakenBack {
  const [first] = rows;
  if (first !== undefined) clock.saw(number(first, 0));
  const jobs = rows.map((row) => ({
    q: number(row, 1),
    id: text(row, 2),
    group: text(row, 3),
    type: text(row, 4),
    worker: text(row, 5),
    attempts: number(row, 6),
    crashes: number(row, 7),
    isCharged: isTrue(row, 8),
    isCancelled: isTrue(row, 9),
  }));
  return {
    jobs,
    woken: new Set(rows.filter((row) => isTrue(row, 10)).map((row) => number(row, 1))),
    finished: jobs.filter(({ isCancelled }) => isCancelled).map(({ id }) => id),
  };
}
