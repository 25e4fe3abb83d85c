/**
 * Puts jobs into the places where they stand (see `schema.ts`) and keeps what follows from a place:
 * the counts of the queue, its keys, and the hints to sleeping workers. The caller has taken the jobs
 * out of the places where they stood.
 */
import type { FinishedStatus, JobStatus } from "../../core/job.ts";
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import { number } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

/** Bits of `flags`. */
export const HAS_PAST = 1; // There may be rows in job_details, step, log or attempt.
export const HAS_KEY = 2; // The body names an idempotency key.
export const IS_LARGE = 4; // The body has a large payload; see `byte-bound.ts`.

/** What a job carries from place to place. */
export interface Moving {
  readonly seq: number;
  readonly q: number;
  readonly group: string;
  readonly prio: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly fence: number;
  /** Of the last settle, so that a repeat is known; 0 before the first. */
  readonly settledFence: number;
  /** Null: it was due when it was created. */
  readonly runAt: number | null;
  readonly flags: number;
}

/** How a job ended for good. */
export interface Finished extends Moving {
  readonly as: FinishedStatus;
  readonly finishedAt: number;
  readonly startedAt: number | null;
  readonly worker: string | null;
  readonly result: string | null;
  readonly resultDropped: boolean;
}

export const STATUS_CODES: Readonly<Record<FinishedStatus, number>> = {
  succeeded: 1,
  dead: 2,
  cancelled: 3,
};

/** By the codes that statements answer: 0 and 4 are not stored. */
export const STATUSES: readonly JobStatus[] = [
  "queued",
  "succeeded",
  "dead",
  "cancelled",
  "processing",
];

const COLUMNS = `(seq, q, grp, prio, attempts, max_attempts, crashes, fence, settled_fence, run_at,
    flags)
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::integer[], $5::integer[],
    $6::integer[], $7::integer[], $8::bigint[], $9::bigint[], $10::bigint[], $11::integer[])`;
const ADD_READY = `
  WITH placed AS (INSERT INTO holdfast.ready ${COLUMNS} RETURNING q, grp)
  SELECT holdfast.open_lines(array_agg(p.q), array_agg(p.grp)) FROM placed p
  WHERE (SELECT x.has_ring FROM holdfast.queue x WHERE x.q = p.q)`;
const ADD_DELAYED = `INSERT INTO holdfast.delayed ${COLUMNS}`;
/** A dead or cancelled job takes along what people look for it by. */
const ADD_DONE = `
  INSERT INTO holdfast.done (seq, q, attempts, max_attempts, crashes, fence, settled_fence, run_at,
    flags, status, finished_at, started_at, worker, result, result_dropped, id, grp, type, tags,
    created_at, category, fingerprint)
  SELECT u.*, j.id, j.grp, j.type, j.tags, j.created_at, t.category, t.fingerprint FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[],
    $6::bigint[], $7::bigint[], $8::bigint[], $9::integer[], $10::smallint[], $11::bigint[],
    $12::bigint[], $13::text[], $14::text[], $15::boolean[]) AS u (seq, q, attempts, max_attempts,
    crashes, fence, settled_fence, run_at, flags, status, finished_at, started_at, worker, result,
    result_dropped)
  LEFT JOIN LATERAL (SELECT * FROM holdfast.job x
    WHERE x.seq = u.seq AND u.status > 1 OFFSET 0) j ON true
  LEFT JOIN LATERAL (SELECT * FROM holdfast.job_details x
    WHERE x.seq = u.seq AND u.status > 1 OFFSET 0) t ON true`;

/** A queued job stands in its line once it is due, and among the delayed before. */
export async function placeInLine(tx: Transaction, jobs: readonly Moving[]): Promise<void> {
  const isLater = ({ runAt }: Moving): boolean => runAt !== null && runAt > tx.now;
  const ready = jobs.filter((job) => !isLater(job));
  const later = jobs.filter(isLater);
  if (ready.length > 0) await tx.rows(ADD_READY, columnsOf(ready));
  if (later.length > 0) await tx.rows(ADD_DELAYED, columnsOf(later));
  for (const job of jobs) {
    tx.count(job.q, isLater(job) ? "delayed" : "ready", 1);
    if ((job.runAt ?? 0) <= tx.now + WAKE_AHEAD_MS) tx.woken.add(job.q);
  }
}

function columnsOf(jobs: readonly Moving[]) {
  return [
    jobs.map(({ seq }) => seq),
    jobs.map(({ q }) => q),
    jobs.map(({ group }) => group),
    jobs.map(({ prio }) => prio),
    jobs.map(({ attempts }) => attempts),
    jobs.map(({ maxAttempts }) => maxAttempts),
    jobs.map(({ crashes }) => crashes),
    jobs.map(({ fence }) => fence),
    jobs.map(({ settledFence }) => settledFence),
    jobs.map(({ runAt }) => runAt),
    jobs.map(({ flags }) => flags),
  ];
}

export async function placeFinished(tx: Transaction, jobs: readonly Finished[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.rows(ADD_DONE, [
    jobs.map(({ seq }) => seq),
    jobs.map(({ q }) => q),
    jobs.map(({ attempts }) => attempts),
    jobs.map(({ maxAttempts }) => maxAttempts),
    jobs.map(({ crashes }) => crashes),
    jobs.map(({ fence }) => fence),
    jobs.map(({ settledFence }) => settledFence),
    jobs.map(({ runAt }) => runAt),
    jobs.map(({ flags }) => flags),
    jobs.map(({ as }) => STATUS_CODES[as]),
    jobs.map(({ finishedAt }) => finishedAt),
    jobs.map(({ startedAt }) => startedAt),
    jobs.map(({ worker }) => worker),
    jobs.map(({ result }) => result),
    jobs.map(({ resultDropped }) => resultDropped),
  ]);
  for (const { q, as } of jobs) tx.count(q, as, 1);
}

const MAKE_ROOM = `
  WITH ended AS (
    SELECT u.q, u.grp FROM unnest($1::integer[], $2::text[]) AS u (q, grp)
    WHERE (SELECT x.has_caps FROM holdfast.queue x WHERE x.q = u.q)),
  opened AS (SELECT holdfast.open_lines(array_agg(e.q), array_agg(e.grp)) FROM ended e)
  SELECT DISTINCT e.q FROM ended e CROSS JOIN opened`;

/** Leases have ended: where there are caps, a full line may be open again, and a worker wait for it. */
export async function makeRoom(
  tx: Transaction,
  leases: readonly Pick<Moving, "q" | "group">[],
): Promise<void> {
  const columns = [leases.map(({ q }) => q), leases.map(({ group }) => group)];
  const rows = await tx.rows(MAKE_ROOM, columns);
  for (const row of rows) tx.woken.add(number(row, 0));
}
