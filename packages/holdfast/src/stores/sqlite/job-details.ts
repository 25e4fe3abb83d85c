/**
 * Job details: what has happened to a job beyond being inserted, leased and finished. Its last failure,
 * why it ended, progress, checkpoint, steps, log lines, ended attempts. Whoever writes here sets
 * `HAS_PAST` on the job's moving row, or nobody will look.
 */
import { HISTORY_LENGTH, LOG_LENGTH, type AttemptRecord, type Failure } from "../../core/job.ts";
import type { Updates } from "../../core/store.ts";
import type { SqlValue } from "./database-like.ts";
import type { Transaction } from "./transaction.ts";

interface DetailColumns {
  readonly started_at: number | null;
  readonly worker: string | null;
  readonly deferrals: number;
  readonly category: string | null;
  readonly message: string | null;
  readonly stack: string | null;
  readonly fingerprint: string | null;
  readonly reason: string | null;
  readonly by_whom: string | null;
  readonly percent: number | null;
  readonly note: string | null;
  readonly checkpoint: string | null;
  readonly result: string | null;
}

const ADD_DEFERRAL = "UPDATE holdfast_details SET deferrals = deferrals + 1 WHERE seq = ?";
const LAST_LOG = "SELECT coalesce(max(n), 0) FROM holdfast_log WHERE seq = ?";
const ADD_LOG = "INSERT INTO holdfast_log (seq, n, at, text) VALUES (?, ?, ?, ?)";
const CUT_LOG = "DELETE FROM holdfast_log WHERE seq = ? AND n <= ?";
const ADD_STEP = `
  INSERT INTO holdfast_step (seq, name, value) VALUES (?, ?, ?) ON CONFLICT (seq, name) DO NOTHING`;
const DROP_STEPS = "DELETE FROM holdfast_step WHERE seq = ?";
const LAST_ATTEMPT = "SELECT coalesce(max(n), 0) FROM holdfast_attempt WHERE seq = ?";
const ADD_ATTEMPT = `
  INSERT INTO holdfast_attempt (seq, n, attempt, fence, worker, started_at, ended_at, outcome,
    category, message, stack) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const CUT_ATTEMPTS = "DELETE FROM holdfast_attempt WHERE seq = ? AND n <= ?";

export const NO_ERROR = { category: null, message: null, stack: null, fingerprint: null } as const;

export function errorColumns(failure: Failure | null): Pick<DetailColumns, keyof typeof NO_ERROR> {
  if (failure === null) return NO_ERROR;
  const { category, message, stack, fingerprint } = failure;
  return { category, message, stack, fingerprint };
}

/** Writes the named columns, leaves the others as they are, and notes the time. */
export function noteDetails(tx: Transaction, seq: number, change: Partial<DetailColumns>): void {
  const columns = ["updated_at", ...Object.keys(change)];
  const values: SqlValue[] = [seq, tx.now, ...Object.values(change)];
  const sets = columns.map((column) => `${column} = excluded.${column}`);
  tx.db.run(
    `INSERT INTO holdfast_details (seq, ${columns.join(", ")}) VALUES (${values.map(() => "?").join(", ")})
     ON CONFLICT (seq) DO UPDATE SET ${sets.join(", ")}`,
    ...values,
  );
}

/** After `noteDetails`, which makes sure that there is a row. */
export function addDeferral(tx: Transaction, seq: number): void {
  tx.db.run(ADD_DEFERRAL, seq);
}

/** Writes what rides along with a renew or a settle. Answers whether there was anything. */
export function takeAlong(tx: Transaction, seq: number, updates: Updates = {}): boolean {
  const { progress, logs = [], checkpoint, steps = [] } = updates;
  if (progress !== undefined || checkpoint !== undefined) {
    noteDetails(tx, seq, {
      ...(progress === undefined ? {} : { percent: progress.percent, note: progress.message }),
      ...(checkpoint === undefined ? {} : { checkpoint }),
    });
  }
  addLogs(tx, seq, logs);
  // A finished step is never computed again, so its first value is the only one.
  for (const { name, value } of steps) tx.db.run(ADD_STEP, seq, name, value);
  return progress !== undefined || checkpoint !== undefined || logs.length + steps.length > 0;
}

export function dropSteps(tx: Transaction, seq: number): void {
  tx.db.run(DROP_STEPS, seq);
}

export function addLogs(
  tx: Transaction,
  seq: number,
  texts: readonly string[],
  at: (index: number) => number = () => tx.now,
): void {
  if (texts.length === 0) return;
  const before = Number(tx.db.value(LAST_LOG, seq));
  const last = before + texts.length;
  for (const [index, text] of texts.entries()) {
    const n = before + index + 1;
    if (n > last - LOG_LENGTH) tx.db.run(ADD_LOG, seq, n, at(index), text);
  }
  if (last > LOG_LENGTH) tx.db.run(CUT_LOG, seq, last - LOG_LENGTH);
}

export function addAttempt(tx: Transaction, seq: number, record: AttemptRecord): void {
  const { attempt, fence, worker, startedAt, endedAt, outcome, category, message, stack } = record;
  const n = Number(tx.db.value(LAST_ATTEMPT, seq)) + 1;
  tx.db.run(
    ADD_ATTEMPT,
    ...[seq, n, attempt, fence, worker, startedAt, endedAt, outcome, category, message, stack],
  );
  if (n > HISTORY_LENGTH) tx.db.run(CUT_ATTEMPTS, seq, n - HISTORY_LENGTH);
}
