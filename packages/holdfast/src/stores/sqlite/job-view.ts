/** A job as people and the engine see it, put together from its body, its place and its past. */
import type {
  AttemptRecord,
  ErrorCategory,
  FinishedStatus,
  JobStatus,
  JobSummary,
  LogLine,
  Step,
  StoredJob,
} from "../../core/job.ts";
import type { Connection } from "./connection.ts";
import { lifetimeOf } from "./keys.ts";
import { HAS_PAST } from "./placement.ts";
import { STATUSES } from "./status-codes.ts";

/** A job and whichever of the four places it stands in. */
export const JOB_AND_PLACE = `
  holdfast_job j
  LEFT JOIN holdfast_done d ON d.seq = j.seq
  LEFT JOIN holdfast_leased p ON p.seq = j.seq
  LEFT JOIN holdfast_later a ON a.seq = j.seq
  LEFT JOIN holdfast_line n ON n.q = j.q AND n.grp = j.grp
  LEFT JOIN holdfast_ready r ON r.line = n.line AND r.prio = j.prio AND r.seq = j.seq`;

export const MOVING_COLUMNS = `
  coalesce(d.attempts, p.attempts, a.attempts, r.attempts) AS attempts,
  coalesce(d.max_attempts, p.max_attempts, a.max_attempts, r.max_attempts) AS maxAttempts,
  coalesce(d.crashes, p.crashes, a.crashes, r.crashes) AS crashes,
  coalesce(d.fence, p.fence, a.fence, r.fence) AS fence,
  coalesce(d.run_at, p.run_at, a.run_at, r.run_at) AS runAt,
  coalesce(d.flags, p.flags, a.flags, r.flags) AS flags,
  coalesce(d.status, iif(p.seq IS NULL, 0, 4)) AS status`;

const VIEW = `
  SELECT j.seq, j.id, q.name AS queue, j.grp AS "group", j.type, j.prio AS priority, j.payload,
    j.tags, j.meta, j.trace, j.key AS dedupeKey, j.key_life AS keyLife, j.created_at AS createdAt, ${MOVING_COLUMNS},
    coalesce(d.result, t.result) AS result, d.result_dropped AS resultDropped, d.finished_at AS finishedAt,
    d.finished_at - d.took AS doneStartedAt, w.name AS lastWorker,
    p.leased_at AS leasedAt, p.until AS leaseUntil, p.updated_at AS leaseUpdatedAt,
    p.cancel_asked AS cancelAsked, t.updated_at AS detailsUpdatedAt, t.started_at AS detailsStartedAt,
    t.worker AS detailsWorker, t.deferrals, t.category, t.message, t.stack, t.fingerprint, t.reason,
    t.by_whom AS "by", t.percent, t.note, t.checkpoint
  FROM ${JOB_AND_PLACE}
  LEFT JOIN holdfast_queue q ON q.q = j.q
  LEFT JOIN holdfast_details t ON t.seq = j.seq
  LEFT JOIN holdfast_worker w ON w.w = coalesce(p.w, d.w)`;
const VIEW_BY_ID = `${VIEW} WHERE j.id = ?`;
const VIEW_BY_SEQ = `${VIEW} WHERE j.seq = ?`;
/** Payloads and results may lie on many pages of their own: not even those are read. */
const BARE_VIEW_BY_SEQ = VIEW_BY_SEQ.replace("j.payload", "'null' AS payload").replace(
  "coalesce(d.result, t.result) AS result",
  "NULL AS result",
);
const STEPS = "SELECT name, value FROM holdfast_step WHERE seq = ? ORDER BY n";
const LOGS = "SELECT at, text FROM holdfast_log WHERE seq = ? ORDER BY n";
const HISTORY = `
  SELECT attempt, fence, worker, started_at AS startedAt, ended_at AS endedAt, outcome, category,
    message, stack FROM holdfast_attempt WHERE seq = ? ORDER BY n`;

interface ViewRow {
  readonly seq: number;
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly priority: number;
  readonly payload: string;
  readonly tags: string | null;
  readonly meta: string | null;
  readonly trace: string | null;
  readonly dedupeKey: string | null;
  readonly keyLife: number | null;
  readonly createdAt: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly fence: number;
  readonly runAt: number | null;
  readonly flags: number;
  readonly status: number;
  readonly result: string | null;
  readonly resultDropped: number | null;
  readonly finishedAt: number | null;
  readonly doneStartedAt: number | null;
  readonly lastWorker: string | null;
  readonly leasedAt: number | null;
  readonly leaseUntil: number | null;
  readonly leaseUpdatedAt: number | null;
  readonly cancelAsked: number | null;
  readonly detailsUpdatedAt: number | null;
  readonly detailsStartedAt: number | null;
  readonly detailsWorker: string | null;
  readonly deferrals: number | null;
  readonly category: ErrorCategory | null;
  readonly message: string | null;
  readonly stack: string | null;
  readonly fingerprint: string | null;
  readonly reason: string | null;
  readonly by: string | null;
  readonly percent: number | null;
  readonly note: string | null;
  readonly checkpoint: string | null;
}

export function storedJob(db: Connection, id: string): StoredJob | null {
  const row = db.objects<ViewRow>(VIEW_BY_ID).get(id);
  if (row === undefined) return null;
  const hasPast = (row.flags & HAS_PAST) !== 0;
  return {
    ...summaryOf(row),
    keyLifetime: row.keyLife === null ? null : lifetimeOf(row.keyLife),
    checkpoint: row.checkpoint,
    steps: hasPast ? copies(db.objects<Step>(STEPS).all(row.seq)) : [],
    logs: hasPast ? copies(db.objects<LogLine>(LOGS).all(row.seq)) : [],
    history: hasPast ? copies(db.objects<AttemptRecord>(HISTORY).all(row.seq)) : [],
  };
}

export function jobSummary(db: Connection, seq: number, without?: "payloads"): JobSummary | null {
  const sql = without === undefined ? VIEW_BY_SEQ : BARE_VIEW_BY_SEQ;
  const row = db.objects<ViewRow>(sql).get(seq);
  return row === undefined ? null : summaryOf(row);
}

export function statusOfCode(code: number): JobStatus {
  return STATUSES[code] ?? "queued";
}

export function finishedStatusOfCode(code: number): FinishedStatus {
  return STATUSES[code] as FinishedStatus;
}

function summaryOf(row: ViewRow): JobSummary {
  const { id, queue, group, type, priority, payload, result, attempts, maxAttempts } = row;
  const { crashes, fence, reason, by, meta, trace, dedupeKey, createdAt, finishedAt } = row;
  const { category, message, stack, fingerprint, percent, note, leasedAt, leaseUntil } = row;
  return {
    ...{ id, queue, group, type, status: statusOfCode(row.status), priority, payload, result },
    resultDropped: row.resultDropped === 1,
    ...{ attempts, maxAttempts, crashes, deferrals: row.deferrals ?? 0, fence },
    error: category === null ? null : { category, message: message ?? "", stack, fingerprint },
    ...{ reason, by },
    progress: percent === null ? null : { percent, message: note },
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    ...{ meta, trace, dedupeKey },
    cancelAsked: row.cancelAsked === 1,
    createdAt,
    updatedAt: updatedAt(row),
    runAt: row.runAt ?? createdAt,
    startedAt: leasedAt ?? row.doneStartedAt ?? row.detailsStartedAt,
    finishedAt,
    worker: row.lastWorker ?? row.detailsWorker,
    ...{ leasedAt, leaseUntil },
  };
}

/** The newest of what happened to it. */
function updatedAt({
  createdAt,
  detailsUpdatedAt,
  leasedAt,
  leaseUpdatedAt,
  finishedAt,
}: ViewRow): number {
  const instants = [detailsUpdatedAt, leasedAt, leaseUpdatedAt, finishedAt];
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? createdAt : Math.max(...known);
}

/** Rows of `node:sqlite` have no prototype; what leaves the store is a plain object. */
function copies<T extends object>(rows: readonly T[]): T[] {
  return rows.map((row) => ({ ...row }));
}
