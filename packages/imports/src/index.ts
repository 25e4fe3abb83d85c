/** Spreadsheets in: `defineImport` says what a row is, a job reads, validates and upserts. */
export { openSheet } from "./read/open-sheet.ts";
export {
  SheetError,
  type CellValue,
  type ReadLimits,
  type ReadOptions,
  type RowsOptions,
  type Sheet,
  type SheetErrorCode,
  type SheetRow,
  type SheetWarning,
} from "./read/sheet.ts";
