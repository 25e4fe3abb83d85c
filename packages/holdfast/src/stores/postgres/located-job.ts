/**
 * Jobs wherever they stand, for those who change them from outside: found, and locked in their place.
 *
 * A job moves between four tables while we look, so one look is not enough: what is found nowhere is
 * looked for again. Nobody is waited for: a row that somebody else has locked (a lease in progress, a
 * caller's transaction that settles the job) counts as not found yet.
 */
import type { JobStatus } from "../../core/job.ts";
import { number, numberOrNull, text, textOrNull } from "./row-values.ts";
import { STATUSES, type Moving } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

export interface LocatedJob extends Moving {
  readonly id: string;
  readonly status: JobStatus;
  readonly place: "ready" | "delayed" | "leased" | "done";
  /** Of a finished job. */
  readonly startedAt: number | null;
  readonly worker: string | null;
}

const PLACES = ["ready", "delayed", "leased", "done"] as const;

const COLUMNS = `j.seq, j.id, j.q, j.grp, j.prio, p.attempts, p.max_attempts, p.crashes, p.fence,
  p.settled_fence, p.run_at, p.flags`;
const SEE_LEASED = `
    SELECT ${COLUMNS}, 4, p.leased_at, p.worker
    FROM holdfast.job j JOIN holdfast.leased p ON p.seq = j.seq
    WHERE j.seq = ANY ($1) ORDER BY j.seq`;
const LOCK: Readonly<Record<LocatedJob["place"], string>> = {
  ready: `
    SELECT ${COLUMNS}, 0, NULL, NULL FROM holdfast.job j JOIN holdfast.ready p
    ON p.q = j.q AND p.grp = j.grp AND p.prio = j.prio AND p.seq = j.seq
    WHERE j.seq = ANY ($1) ORDER BY j.seq FOR UPDATE OF p SKIP LOCKED`,
  delayed: `
    SELECT ${COLUMNS}, 0, NULL, NULL FROM holdfast.job j JOIN holdfast.delayed p ON p.seq = j.seq
    WHERE j.seq = ANY ($1) ORDER BY j.seq FOR UPDATE OF p SKIP LOCKED`,
  leased: `${SEE_LEASED} FOR UPDATE OF p SKIP LOCKED`,
  done: `
    SELECT ${COLUMNS}, p.status, p.started_at, p.worker
    FROM holdfast.job j JOIN holdfast.done p ON p.seq = j.seq
    WHERE j.seq = ANY ($1) ORDER BY j.seq FOR UPDATE OF p SKIP LOCKED`,
};
const LEAVE: Readonly<Record<Exclude<LocatedJob["place"], "leased">, string>> = {
  ready: `
    DELETE FROM holdfast.ready p USING holdfast.job j WHERE j.seq = ANY ($1)
      AND p.q = j.q AND p.grp = j.grp AND p.prio = j.prio AND p.seq = j.seq`,
  delayed: "DELETE FROM holdfast.delayed WHERE seq = ANY ($1)",
  done: "DELETE FROM holdfast.done WHERE seq = ANY ($1)",
};

export interface LockHow {
  /** Running jobs are only seen, unless they are to be changed: their holders renew all the time. */
  readonly isForRunning: boolean;
}

/** Those that could be locked now; the others stand elsewhere by now, or somebody has them. */
export async function lockJobs(
  tx: Transaction,
  seqs: readonly number[],
  { isForRunning }: LockHow,
): Promise<LocatedJob[]> {
  const jobs: LocatedJob[] = [];
  const open = new Set(seqs);
  for (const place of PLACES) {
    if (open.size === 0) break;
    const sql = place === "leased" && !isForRunning ? SEE_LEASED : LOCK[place];
    for (const row of await tx.rows(sql, [[...open]])) {
      const seq = number(row, 0);
      open.delete(seq);
      jobs.push({
        seq,
        place,
        id: text(row, 1),
        q: number(row, 2),
        group: text(row, 3),
        prio: number(row, 4),
        attempts: number(row, 5),
        maxAttempts: number(row, 6),
        crashes: number(row, 7),
        fence: number(row, 8),
        settledFence: number(row, 9),
        runAt: numberOrNull(row, 10),
        flags: number(row, 11),
        status: STATUSES[number(row, 12)] ?? "queued",
        startedAt: numberOrNull(row, 13),
        worker: textOrNull(row, 14),
      });
    }
  }
  return jobs;
}

/** Takes locked jobs out of their places. The caller puts them somewhere, or deletes them. */
export async function leavePlaces(tx: Transaction, jobs: readonly LocatedJob[]): Promise<void> {
  for (const place of ["ready", "delayed", "done"] as const) {
    const leaving = jobs.filter((job) => job.place === place);
    if (leaving.length === 0) continue;
    await tx.rows(LEAVE[place], [leaving.map(({ seq }) => seq)]);
    for (const { q, status } of leaving) {
      if (place !== "done") tx.count(q, place, -1);
      else if (status !== "queued" && status !== "processing") tx.count(q, status, -1);
    }
  }
}
