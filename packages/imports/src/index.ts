/** Spreadsheets in: `defineImport` says what a row is, a job reads, validates and upserts. */
export { openImports } from "./open-imports.ts";
export { checkImport, type CheckOptions } from "./check-import.ts";
export { importsOf } from "./imports.ts";
export type { Imports } from "./imports.ts";
export type { ImportReceipt, SubmitFileOptions, SubmitOptions } from "./submit-options.ts";
export type { ImportsPage, ImportView } from "./import-view.ts";
export type { ImportsOptions } from "./imports-options.ts";
export {
  defineImport,
  type ImportDefinition,
  type ImportJobOptions,
  type ImportOptions,
} from "./define-import.ts";
export { BaseImportHandler, type HandlerOptions } from "./base-import-handler.ts";
export { importTypes, type BuiltInName, type BuiltInOptions } from "./types/import-types.ts";
export { sqliteTarget, type SqliteTargetOptions } from "./targets/sqlite-target.ts";
export { postgresTarget, type PostgresTargetOptions } from "./targets/postgres-target.ts";
export { mongodbTarget, type MongodbTargetOptions } from "./targets/mongodb-target.ts";
export { emptyTarget } from "./targets/empty-target.ts";
export type {
  Batch,
  BatchAnswer,
  Beginning,
  Ending,
  ImportState,
  ImportTarget,
  KeyValue,
  RowError,
  RowKey,
  TargetRow,
} from "./targets/target.ts";
export type { ImportPayload } from "./job/import-payload.ts";
export type { ImportSummary } from "./job/import-summary.ts";
export type { ManifestEntries, ManifestEntry } from "./manifest/manifest.ts";
export type { RowSchema } from "./schema/row-schema.ts";
export { errorCsv } from "./error-csv.ts";
export {
  ImportInboxError,
  ImportNotFoundError,
  ImportOvertakenError,
  ImportRejectedError,
  ImportTargetError,
  type ImportReason,
} from "./errors.ts";
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
