/** A job wherever it stands, for those who change it from outside: found, and taken out of its place. */
import type { JobStatus } from "../../core/job.ts";
import { dropDue } from "./due-jobs.ts";
import { JOB_AND_PLACE, MOVING_COLUMNS, statusOfCode } from "./job-view.ts";
import type { Queue } from "./queue-book.ts";
import { HAS_EXTRAS, type Moving } from "./placement.ts";
import type { Transaction } from "./transaction.ts";
import { dropUnhappy } from "./unhappy.ts";

const LOCATE = `
  SELECT j.seq, j.id, j.q, j.grp AS "group", j.prio, j.key, j.key_life AS keyLife,
    j.key_hash AS keyHash, ${MOVING_COLUMNS},
    coalesce(d.settled_fence, d.fence, p.settled_fence, a.settled_fence, r.settled_fence) AS settledFence,
    r.line AS readyLine, d.finished_at - d.took AS startedAt, d.w
  FROM ${JOB_AND_PLACE}`;
const LOCATE_BY_ID = `${LOCATE} WHERE j.id = ?`;
const LOCATE_BY_SEQ = `${LOCATE} WHERE j.seq = ?`;
const DROP_READY = "DELETE FROM holdfast_ready WHERE line = ? AND prio = ? AND seq = ?";
const DROP_LATER = "DELETE FROM holdfast_later WHERE seq = ?";
const DROP_DONE = "DELETE FROM holdfast_done WHERE seq = ?";

interface LocatedRow extends Moving {
  readonly id: string;
  readonly q: number;
  readonly group: string;
  readonly key: string | null;
  readonly keyLife: number | null;
  readonly keyHash: string | null;
  readonly status: number;
  readonly readyLine: number | null;
  readonly startedAt: number | null;
  readonly w: number | null;
}

export interface LocatedJob extends Omit<LocatedRow, "status"> {
  readonly status: JobStatus;
  readonly queue: Queue;
}

export function locate(tx: Transaction, by: { id: string } | { seq: number }): LocatedJob | null {
  const row =
    "id" in by
      ? tx.db.objects<LocatedRow>(LOCATE_BY_ID).get(by.id)
      : tx.db.objects<LocatedRow>(LOCATE_BY_SEQ).get(by.seq);
  if (row === undefined) return null;
  return { ...row, status: statusOfCode(row.status), queue: tx.queues.byNumber(row.q) };
}

/** Takes a job that is not processing out of its place. The caller puts it somewhere, or deletes it. */
export function leavePlace(tx: Transaction, job: LocatedJob): void {
  const { status, readyLine, prio, seq, queue, flags } = job;
  if (status === "processing") throw new Error("a running job stays with its holder");
  if (status !== "queued") {
    tx.db.run(DROP_DONE, seq);
    queue.add(status, -1);
    if (status !== "succeeded") {
      dropUnhappy(tx, { seq, as: status, hasExtras: (flags & HAS_EXTRAS) !== 0 });
    }
    return;
  }
  if (job.attempts > 0) queue.add("retrying", -1);
  if (readyLine !== null) {
    tx.db.run(DROP_READY, readyLine, prio, seq);
    dropDue(tx, { line: readyLine }, job);
    queue.add("ready", -1);
  } else {
    tx.db.run(DROP_LATER, seq);
    queue.add("delayed", -1);
  }
}
