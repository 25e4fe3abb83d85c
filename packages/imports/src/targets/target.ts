/**
 * Where rows go. A target writes a batch and how far the import has come together, so that a killed import goes on
 * behind its last batch and no row is written twice; and it takes a batch only from the newest attempt, known by
 * its fence.
 */
export interface ImportTarget {
  /** For people: `table customers`. */
  readonly name: string;
  /** Is there what rows of this key need? Throws `ImportTargetError`, which says what to do. */
  prepare(keyFields: readonly string[]): Promise<void>;
  /** From now on no earlier attempt of this job writes anything. */
  begin(beginning: Beginning): Promise<ImportState>;
  /** All of it, or nothing. Throws `ImportOvertakenError` if a newer attempt goes on. */
  write(batch: Batch): Promise<BatchAnswer>;
  /** Every row is in. */
  finish(ending: Ending): Promise<void>;
  /** The rows that failed, in their order. */
  failures(job: string, limit: number): Promise<readonly RowError[]>;
  /** Of these keys, which are there? For dry runs: writes nothing. */
  existing(keys: readonly RowKey[]): Promise<readonly boolean[]>;
  /** What this target cannot promise where it is, for the log of a process that starts; null: it keeps all of it. */
  caution?(): Promise<string | null>;
  /** Ends what the target opened itself. */
  close(): Promise<void>;
}

export type KeyValue = string | number | boolean | bigint | Date;
export type RowKey = Readonly<Record<string, KeyValue>>;

export interface TargetRow {
  /** As a person sees it in the sheet. */
  readonly row: number;
  readonly key: RowKey;
  /** Key and all else. What is undefined is not written. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface RowError {
  readonly row: number;
  readonly reason: string;
}

export interface Beginning {
  readonly job: string;
  readonly fence: number;
  readonly type: string;
  /** The hash of the file's content: an import goes on with the same file only. */
  readonly file: string;
}

export interface ImportState {
  readonly file: string;
  /** The last row that is done. */
  readonly upTo: number;
  readonly totalRows: number;
  readonly inserted: number;
  readonly updated: number;
  readonly failed: number;
  readonly isFinished: boolean;
  /** What `finish` was given. */
  readonly notes: string | null;
}

export interface Ending extends Pick<Batch, "job" | "fence" | "after"> {
  /** For an attempt that comes after all is done. */
  readonly notes: string;
}

export interface Batch {
  readonly job: string;
  readonly fence: number;
  /** The last row of the batch before. */
  readonly after: number;
  readonly upTo: number;
  /** How many rows were read for it, with those that do not fit. */
  readonly totalRows: number;
  readonly rows: readonly TargetRow[];
  /** Rows that do not fit their schema. */
  readonly failures: readonly RowError[];
  /** How many failures may still be kept. */
  readonly keep: number;
}

export interface BatchAnswer {
  readonly inserted: number;
  readonly updated: number;
  /** Those of the batch, and rows that the target refused. */
  readonly failures: readonly RowError[];
}

const VERBS = ["prepare", "begin", "write", "finish", "failures", "existing", "close"] as const;

export function isTarget(value: unknown): value is ImportTarget {
  const target = Object(value) as Partial<Record<string, unknown>>;
  return VERBS.every((verb) => typeof target[verb] === "function");
}

/** How long what is known of a finished import is kept in a target. */
export const KEEP_FINISHED_DAYS = 30;
/** And of one that never ended. */
export const KEEP_UNFINISHED_DAYS = 180;
