/** Rows as a format has them, before it is known which of them is the header. */
import type { CellValue } from "./sheet.ts";
import type { SheetWarnings } from "./sheet-warnings.ts";

export interface RawRow {
  readonly row: number;
  /** From the first column to the last one that has a value, or farther; never without one. */
  readonly cells: CellValue[];
}

export interface RowSource {
  readonly format: "xlsx" | "csv";
  readonly name: string;
  readonly warnings: SheetWarnings;
  /** From 0 to 1. */
  readonly progress: number;
  /** How wide rows are expected to be, once the header is known. */
  width: number;
  /** In their order, a few hundred at a time: the next are read when they are asked for. */
  batches(): AsyncGenerator<readonly RawRow[], void>;
  close(): void;
}

/** How many rows, and how much text, are handed on at once. */
export const BATCH_ROWS = 128;
export const BATCH_CHARACTERS = 256 * 1024;
/** Of all cells of one row. */
export const ROW_CHARACTERS = 1024 * 1024;
