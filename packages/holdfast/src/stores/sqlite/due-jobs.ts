/**
 * Ready jobs that were not due when they were created, or were tried before (`looking-schema.ts`). All
 * others have no row: nothing of this is paid for a job that is inserted, leased and done.
 */
import type { Line } from "./line-book.ts";
import type { Transaction } from "./transaction.ts";

const ADD = "INSERT INTO holdfast_due (line, run_at, seq, attempts) VALUES (?, ?, ?, ?)";
const DROP = "DELETE FROM holdfast_due WHERE line = ? AND run_at = ? AND seq = ?";

export interface DueJob {
  readonly seq: number;
  /** Null: it was due when it was created. */
  readonly runAt: number | null;
}

/** It stands in its line from now on. */
export function addDue(
  tx: Transaction,
  { line }: Pick<Line, "line">,
  { seq, runAt, attempts }: DueJob & { readonly attempts: number },
): void {
  if (runAt !== null) tx.db.silent(ADD).get(line, runAt, seq, attempts);
}

/** It leaves its line. */
export function dropDue(
  tx: Transaction,
  { line }: Pick<Line, "line">,
  { seq, runAt }: DueJob,
): void {
  if (runAt !== null) tx.db.silent(DROP).get(line, runAt, seq);
}
