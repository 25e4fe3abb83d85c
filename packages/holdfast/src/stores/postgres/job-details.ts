/**
 * What has happened to jobs beyond being inserted, leased and finished: the last failure, why they
 * ended, progress, checkpoint, steps, log lines, ended attempts. Whoever writes here sets `HAS_PAST`
 * on the job's moving row, or nobody will look.
 *
 * Everything here takes many jobs at once: a batch of a hundred failures is a handful of statements.
 */
import { HISTORY_LENGTH, LOG_LENGTH, type AttemptRecord, type Failure } from "../../core/job.ts";
import type { Updates } from "../../core/store.ts";
import type { Value } from "./database.ts";
import type { Transaction } from "./transaction.ts";

/** The columns and their types. */
const COLUMNS = {
  started_at: "bigint",
  worker: "text",
  deferrals: "integer",
  category: "text",
  message: "text",
  stack: "text",
  fingerprint: "text",
  reason: "text",
  by_whom: "text",
  percent: "double precision",
  note: "text",
  checkpoint: "text",
  result: "text",
} as const;

type Column = keyof typeof COLUMNS;
export type DetailsChange = Partial<Record<Column, string | number | null>>;

export interface DetailsNote {
  readonly seq: number;
  /** The columns that are named; the others stay as they are. */
  readonly change: DetailsChange;
}

export const NO_ERROR = { category: null, message: null, stack: null, fingerprint: null } as const;

/** Log lines and attempts are numbered within their job, and only the last so many are kept. */
const ADD_LOGS = `
  INSERT INTO holdfast.log (seq, n, at, text)
  SELECT u.seq, u.n + coalesce((SELECT max(l.n) FROM holdfast.log l WHERE l.seq = u.seq), 0),
    u.at, u.text
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS u (seq, n, at, text)`;
const CUT_LOGS = `
  DELETE FROM holdfast.log l USING unnest($1::bigint[]) AS u (seq)
  WHERE l.seq = u.seq
    AND l.n <= (SELECT max(x.n) FROM holdfast.log x WHERE x.seq = u.seq) - ${LOG_LENGTH}`;
const ADD_ATTEMPTS = `
  INSERT INTO holdfast.attempt
    (seq, n, fence, started_at, ended_at, attempt, worker, outcome, category, message, stack)
  SELECT u.seq,
    u.n + coalesce((SELECT max(a.n) FROM holdfast.attempt a WHERE a.seq = u.seq), 0),
    u.fence, u.started_at, u.ended_at, u.attempt, u.worker, u.outcome, u.category, u.message,
    u.stack
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[],
      $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
    AS u (seq, n, fence, started_at, ended_at, attempt, worker, outcome, category, message, stack)`;
const CUT_ATTEMPTS = `
  DELETE FROM holdfast.attempt a USING unnest($1::bigint[]) AS u (seq)
  WHERE a.seq = u.seq
    AND a.n <= (SELECT max(x.n) FROM holdfast.attempt x WHERE x.seq = u.seq) - ${HISTORY_LENGTH}`;
/** A finished step is never computed again, so its first value is the only one. */
const ADD_STEPS = `
  INSERT INTO holdfast.step (seq, name, value)
  SELECT u.seq, u.name, u.value
  FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS u (seq, name, value, ord)
  ORDER BY u.ord ON CONFLICT (seq, name) DO NOTHING`;
const DROP_STEPS = "DELETE FROM holdfast.step WHERE seq = ANY ($1)";

export function errorColumns(failure: Failure | null): DetailsChange {
  if (failure === null) return NO_ERROR;
  const { category, message, stack, fingerprint } = failure;
  return { category, message, stack, fingerprint };
}

/** Notes that change the same columns travel together. */
export async function noteDetails(tx: Transaction, notes: readonly DetailsNote[]): Promise<void> {
  const groups = new Map<string, DetailsNote[]>();
  for (const note of notes) {
    const names = Object.keys(note.change).sort().join();
    const group = groups.get(names);
    if (group === undefined) groups.set(names, [note]);
    else group.push(note);
  }
  for (const [names, group] of groups) {
    const columns = (names === "" ? [] : names.split(",")) as Column[];
    await noteGroup(tx, columns, group);
  }
}

async function noteGroup(
  tx: Transaction,
  columns: readonly Column[],
  notes: readonly DetailsNote[],
): Promise<void> {
  const names = ["seq", "updated_at", ...columns];
  const sources = columns.map((column, index) => `, $${index + 3}::${COLUMNS[column]}[]`);
  const sets = names.slice(1).map((name) => `${name} = excluded.${name}`);
  const values: Value[] = columns.map((column) =>
    notes.map(({ change }) => change[column] ?? null),
  );
  const aliases = ["seq", ...columns].map((name) => `u_${name}`);
  await tx.rows(
    `INSERT INTO holdfast.job_details (${names.join(", ")})
     SELECT u_seq, $2::bigint${columns.map((column) => `, u_${column}`).join("")}
     FROM unnest($1::bigint[]${sources.join("")}) AS u (${aliases.join(", ")})
     ON CONFLICT (seq) DO UPDATE SET ${sets.join(", ")}`,
    [notes.map(({ seq }) => seq), tx.now, ...values],
  );
}

export interface UpdatesOf {
  readonly seq: number;
  readonly updates: Updates;
}

export function isEmpty({ progress, logs = [], checkpoint, steps = [] }: Updates = {}): boolean {
  return progress === undefined && checkpoint === undefined && logs.length + steps.length === 0;
}

/** Writes what rides along with renewals and settles. */
export async function takeAlong(tx: Transaction, items: readonly UpdatesOf[]): Promise<void> {
  const riding = items.filter(({ updates }) => !isEmpty(updates));
  await noteDetails(
    tx,
    riding.flatMap(({ seq, updates: { progress, checkpoint } }): DetailsNote[] => {
      if (progress === undefined && checkpoint === undefined) return [];
      const change: DetailsChange = {
        ...(progress === undefined ? {} : { percent: progress.percent, note: progress.message }),
        ...(checkpoint === undefined ? {} : { checkpoint }),
      };
      return [{ seq, change }];
    }),
  );
  await addLogs(
    tx,
    riding.map(({ seq, updates }) => ({
      seq,
      lines: (updates.logs ?? []).map((text) => ({ at: tx.now, text })),
    })),
  );
  const steps = riding.flatMap(({ seq, updates }) =>
    (updates.steps ?? []).map((step) => ({ seq, ...step })),
  );
  if (steps.length === 0) return;
  await tx.rows(ADD_STEPS, [
    steps.map(({ seq }) => seq),
    steps.map(({ name }) => name),
    steps.map(({ value }) => value),
  ]);
}

export async function dropSteps(tx: Transaction, seqs: readonly number[]): Promise<void> {
  await tx.rows(DROP_STEPS, [seqs]);
}

export interface LogsOf {
  readonly seq: number;
  readonly lines: readonly { readonly at: number; readonly text: string }[];
}

/** Each job at most once in a call. */
export async function addLogs(tx: Transaction, items: readonly LogsOf[]): Promise<void> {
  const lines = items.flatMap(({ seq, lines: all }) =>
    all.slice(-LOG_LENGTH).map(({ at, text }, index) => ({ seq, n: index + 1, at, text })),
  );
  if (lines.length === 0) return;
  await tx.rows(ADD_LOGS, [
    lines.map(({ seq }) => seq),
    lines.map(({ n }) => n),
    lines.map(({ at }) => Math.floor(at)),
    lines.map(({ text }) => text),
  ]);
  await tx.rows(CUT_LOGS, [[...new Set(lines.map(({ seq }) => seq))]]);
}

export interface AttemptsOf {
  readonly seq: number;
  readonly records: readonly AttemptRecord[];
}

/** Each job at most once in a call. */
export async function addAttempts(tx: Transaction, items: readonly AttemptsOf[]): Promise<void> {
  const rows = items.flatMap(({ seq, records }) =>
    records.slice(-HISTORY_LENGTH).map((record, index) => ({ seq, n: index + 1, ...record })),
  );
  if (rows.length === 0) return;
  await tx.rows(ADD_ATTEMPTS, [
    rows.map(({ seq }) => seq),
    rows.map(({ n }) => n),
    rows.map(({ fence }) => fence),
    rows.map(({ startedAt }) => Math.floor(startedAt)),
    rows.map(({ endedAt }) => Math.floor(endedAt)),
    rows.map(({ attempt }) => attempt),
    rows.map(({ worker }) => worker),
    rows.map(({ outcome }) => outcome),
    rows.map(({ category }) => category),
    rows.map(({ message }) => message),
    rows.map(({ stack }) => stack),
  ]);
  await tx.rows(CUT_ATTEMPTS, [[...new Set(rows.map(({ seq }) => seq))]]);
}
