/**
 * Retention. Only finished jobs are looked at, so work that has not run cannot be touched. Of all jobs
 * that are past a policy the one that finished first goes first: with a limit, a busy queue cannot
 * keep the others from being pruned.
 *
 * It is also the moment at which what has expired is swept, and what callers' transactions counted is
 * folded into the tally. Nobody saw the expired any more: every reader checks the time itself.
 */
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { sweepLines } from "./sweep-lines.ts";
import { number, text } from "./row-values.ts";
import { HAS_PAST, STATUS_CODES } from "./placement.ts";
import { FOLD_TALLY, IS_TALLY_LONG } from "./tally.ts";
import { bury } from "./tombstones.ts";
import type { Transaction } from "./transaction.ts";

/** Swept per call, of each kind. */
const SWEEP_AT_MOST = 1_000;

const QUEUES = "SELECT q, name FROM holdfast.queue";
/**
 * The oldest of a queue and status that are too old, or too many. Both are judged by one snapshot: a
 * count that is older than the list would prune what somebody else's prune has made room for.
 */
const PAST_AGE = `
  SELECT d.finished_at, d.seq FROM holdfast.done d
  WHERE d.q = $1 AND d.status = $2 AND d.finished_at <= $3
  ORDER BY d.q, d.status, d.finished_at, d.seq LIMIT $4`;
const PAST_NUMBER = `
  SELECT d.finished_at, d.seq FROM holdfast.done d
  WHERE d.q = $1 AND d.status = $2
  ORDER BY d.q, d.status, d.finished_at, d.seq
  LIMIT least($4::bigint, greatest(0, (
    SELECT coalesce(sum(CASE $2 WHEN 1 THEN t.succeeded WHEN 2 THEN t.dead ELSE t.cancelled END), 0)
    FROM (SELECT q, succeeded, dead, cancelled FROM holdfast.tally UNION ALL
      SELECT q, succeeded, dead, cancelled FROM holdfast.tally_late) t WHERE t.q = $1)::bigint
    - $3::bigint))`;
const TAKE = `
  WITH mine AS (
    SELECT x.seq FROM holdfast.done x WHERE x.seq = ANY ($1) ORDER BY x.seq FOR UPDATE SKIP LOCKED)
  DELETE FROM holdfast.done d USING mine m WHERE d.seq = m.seq
  RETURNING d.seq, d.q, d.settled_fence, d.flags, d.status`;

/** What ends at a time, and has an index by it. */
const ENDING = [
  ["gone", "forget_at"],
  ["key", "expires_at"],
  ["record", "expires_at"],
] as const;
/** The first to end is asked for, not whether any has: that question may be answered by a scan. */
const EXPIRED = `
  SELECT 1 WHERE ${ENDING.map(
    ([table, end]) => `(
    SELECT x.${end} FROM holdfast.${table} x WHERE x.${end} IS NOT NULL
    ORDER BY x.${end} LIMIT 1) <= $1 OR`,
  ).join("")}
    EXISTS (SELECT 1 FROM holdfast.hold WHERE until <= $1)
    OR EXISTS (SELECT 1 FROM holdfast.disowned WHERE forget_at <= $1)
    OR EXISTS (SELECT 1 FROM holdfast.line WHERE weight IS NULL AND max_active IS NULL)
    OR ${IS_TALLY_LONG}`;
/** A record stays until the clock is past its version, or the next one of its key could get the same. */
const MAY_GO: Readonly<Record<string, string>> = { record: "AND x.version < $1 * 1000" };
const SWEEP = [...ENDING, ["hold", "until"] as const, ["disowned", "forget_at"] as const].map(
  ([table, end]) => `
    DELETE FROM holdfast.${table} WHERE ctid = ANY (ARRAY(
      SELECT x.ctid FROM holdfast.${table} x
      WHERE x.${end} IS NOT NULL AND x.${end} <= $1 ${MAY_GO[table] ?? ""}
      ORDER BY x.${end} LIMIT ${SWEEP_AT_MOST} FOR UPDATE SKIP LOCKED))`,
);

interface Victim {
  readonly finishedAt: number;
  readonly seq: number;
}

export async function prune(
  db: Database,
  policies: readonly Retention[],
  limit: number,
): Promise<number> {
  const shelves = limit > 0 ? await shelvesOf(db, policies) : [];
  const now = await db.transaction(async (tx) => {
    await sweep(tx);
    return tx.now;
  });
  const victims: Victim[] = [];
  for (const shelf of shelves) victims.push(...(await victimsOf(db, shelf, { now, limit })));
  const oldest = [...new Map(victims.map((victim) => [victim.seq, victim])).values()]
    .sort((a, b) => a.finishedAt - b.finishedAt || a.seq - b.seq)
    .slice(0, Math.max(0, limit));
  if (oldest.length === 0) return 0;
  return db.transaction(async (tx) => {
    const rows = await tx.rows(TAKE, [oldest.map(({ seq }) => seq)]);
    for (const row of rows) tx.count(number(row, 1), statusOf(number(row, 4)), -1);
    await bury(
      tx,
      rows.map((row) => ({
        seq: number(row, 0),
        settledFence: number(row, 2),
        hasPast: (number(row, 3) & HAS_PAST) !== 0,
      })),
    );
    return rows.length;
  });
}

function statusOf(code: number): FinishedStatus {
  const status = FINISHED_STATUSES.find((one) => STATUS_CODES[one] === code);
  if (status === undefined) throw new Error(`no finished status has the code ${code}`);
  return status;
}

async function sweep(tx: Transaction): Promise<void> {
  const expired = await tx.rows(EXPIRED, [tx.now]);
  if (expired.length === 0) return;
  for (const sql of SWEEP) await tx.rows(sql, [tx.now]);
  await sweepLines(tx);
  await tx.rows(FOLD_TALLY);
}

/** A queue and status with a policy that bounds it. */
interface Shelf {
  readonly q: number;
  readonly status: FinishedStatus;
  readonly policies: readonly Retention[];
}

/** The queue's own policies for a status, or else those for all queues. */
async function shelvesOf(db: Database, policies: readonly Retention[]): Promise<Shelf[]> {
  const isBound = ({ olderThanMs, keep }: Retention) => olderThanMs !== null || keep !== null;
  if (!policies.some(isBound)) return [];
  const rows = await db.rows(QUEUES);
  return rows.flatMap((row) =>
    FINISHED_STATUSES.flatMap((status): Shelf[] => {
      const ofStatus = policies.filter((policy) => policy.status === status);
      const own = ofStatus.filter(({ queue }) => queue === text(row, 1));
      const inForce = own.length > 0 ? own : ofStatus.filter(({ queue }) => queue === null);
      const bounding = inForce.filter(isBound);
      return bounding.length === 0 ? [] : [{ q: number(row, 0), status, policies: bounding }];
    }),
  );
}

async function victimsOf(
  db: Database,
  { q, status, policies }: Shelf,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<Victim[]> {
  const victims: Victim[] = [];
  const look = async (sql: string, bound: number): Promise<void> => {
    const rows = await db.rows(sql, [q, STATUS_CODES[status], bound, limit]);
    victims.push(...rows.map((row) => ({ finishedAt: number(row, 0), seq: number(row, 1) })));
  };
  for (const { olderThanMs, keep } of policies) {
    if (olderThanMs !== null) await look(PAST_AGE, Math.floor(now - olderThanMs));
    if (keep !== null) await look(PAST_NUMBER, keep);
  }
  return victims;
}
