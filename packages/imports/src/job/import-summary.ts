/** What came of an import: the result of its job. */
import type { RowError } from "../targets/target.ts";

export interface ImportSummary {
  readonly type: string;
  /** As its sender called it. */
  readonly file: string;
  readonly dryRun: boolean;
  /** `inserted + updated + failed`. */
  readonly totalRows: number;
  readonly inserted: number;
  readonly updated: number;
  readonly failed: number;
  /** The first of them, by row as a person sees it in the sheet. */
  readonly errors: readonly RowError[];
  /** How many of them are not in `errors`; the error file has more. */
  readonly errorsLeftOut: number;
  /** Rows whose key a later row has, too: the later one is what the target has. */
  readonly replaced: number;
  /** What else a person should know: replaced rows, columns that were left out, what the reader noticed. */
  readonly warnings: readonly RowError[];
}

/** A result has room for 256 KiB. */
const MOST_ERRORS = 1_000;
const MOST_ERROR_CHARS = 60_000;
export const MOST_WARNINGS = 100;

/** As many as a job's result has room for. */
export function fitErrors(errors: readonly RowError[]): readonly RowError[] {
  let chars = 0;
  const fitting: RowError[] = [];
  for (const one of errors) {
    chars += one.reason.length + 30;
    if (fitting.length >= MOST_ERRORS || chars > MOST_ERROR_CHARS) break;
    fitting.push(one);
  }
  return fitting;
}
