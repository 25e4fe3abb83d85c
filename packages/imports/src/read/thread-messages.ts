/** What a caller's thread and a reader's thread tell each other. */
import type { ReadPlan } from "./read-plan.ts";
import type { CellValue, SheetErrorCode, SheetWarning } from "./sheet.ts";

export interface ThreadData {
  readonly path: string;
  readonly plan: ReadPlan;
}

export type ToReader =
  | { readonly kind: "start"; readonly after: number }
  /** A batch was handed out: one more may come. */
  | { readonly kind: "more" };

/** How many batches may be under way before the reader waits. */
export const BATCHES_AHEAD = 2;

export interface Opened {
  readonly kind: "opened";
  readonly format: "xlsx" | "csv";
  readonly name: string;
  readonly columns: readonly string[];
  readonly headerRow: number;
  readonly warnings: readonly SheetWarning[];
}

export interface Batch {
  readonly kind: "rows";
  /** Their numbers; and their cells, one row after the other: a few long lists are sent faster than many short ones. */
  readonly rows: readonly number[];
  readonly cells: readonly CellValue[];
  readonly warnings: readonly SheetWarning[];
  readonly progress: number;
}

export interface Ended {
  readonly kind: "end";
  readonly warnings: readonly SheetWarning[];
}

/** The file is at fault. */
export interface Refused {
  readonly kind: "refused";
  readonly reason: SheetErrorCode;
  readonly message: string;
  readonly place: string | null;
}

/** Something else is: the disk, the memory, this code. */
export interface Broken {
  readonly kind: "broken";
  readonly message: string;
  /** Of the system: `ENOENT`. */
  readonly code: string | null;
}

export type FromReader = Opened | Batch | Ended | Refused | Broken;
