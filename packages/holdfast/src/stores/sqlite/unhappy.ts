/**
 * The dead and the cancelled, with everything they are looked for by (`looking-schema.ts`). A job's row is
 * written when it ends so and deleted when it leaves that place, in the same transaction.
 */
import type { FinishedStatus } from "../../core/job.ts";
import { STATUS_CODES } from "./status-codes.ts";
import type { Transaction } from "./transaction.ts";

const ADD = `
  INSERT INTO holdfast_unhappy (status, seq, q, grp, type, category, fingerprint, created_at, finished_at)
  SELECT ?, j.seq, j.q, j.grp, j.type, t.category, t.fingerprint, j.created_at, ?
  FROM holdfast_job j LEFT JOIN holdfast_details t ON t.seq = j.seq WHERE j.seq = ?`;
const ADD_TAGS = `
  INSERT OR IGNORE INTO holdfast_unhappy_tag (status, tag, seq)
  SELECT ?, e.value, j.seq FROM holdfast_job j CROSS JOIN json_each(j.tags) e WHERE j.seq = ?`;
const DROP = "DELETE FROM holdfast_unhappy WHERE status = ? AND seq = ?";
const DROP_TAGS = `
  DELETE FROM holdfast_unhappy_tag WHERE status = ?1 AND seq = ?2 AND tag IN (
    SELECT e.value FROM holdfast_job j CROSS JOIN json_each(j.tags) e WHERE j.seq = ?2)`;

interface Unhappy {
  readonly seq: number;
  readonly as: FinishedStatus;
  /** The body has tags, metadata or a trace. */
  readonly hasExtras: boolean;
}

/** Its details are written already. */
export function addUnhappy(tx: Transaction, job: Unhappy & { readonly finishedAt: number }): void {
  const status = STATUS_CODES[job.as];
  tx.db.run(ADD, status, job.finishedAt, job.seq);
  if (job.hasExtras) tx.db.run(ADD_TAGS, status, job.seq);
}

/** Its body is still there. */
export function dropUnhappy(tx: Transaction, job: Unhappy): void {
  const status = STATUS_CODES[job.as];
  tx.db.run(DROP, status, job.seq);
  if (job.hasExtras) tx.db.run(DROP_TAGS, status, job.seq);
}
