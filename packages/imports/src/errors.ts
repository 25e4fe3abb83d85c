/** What can go wrong with an import, besides what the reader of a file says (`SheetError`). */
import { HoldfastError } from "holdfast";

/** Why a file is not imported. Trying again with the same file helps none of these. */
export type ImportReason =
  | "bad-name"
  | "outside-inbox"
  | "symbolic-link"
  | "missing-file"
  | "wrong-extension"
  | "wrong-type"
  | "not-in-manifest"
  | "unknown-type"
  | "too-large"
  | "file-changed"
  | "missing-header"
  | "doubled-header"
  | "multipart";

/** The file, or the request for it, is refused: `reason` says why, `place` where. */
export class ImportRejectedError extends HoldfastError {
  readonly code = "HOLDFAST_IMPORT_REJECTED";
  readonly reason: ImportReason;
  readonly place: string | null;

  constructor(reason: ImportReason, message: string, place: string | null = null) {
    super(message);
    this.reason = reason;
    this.place = place;
  }
}

/** The target cannot take such rows as it is: no such table, column or unique index. */
export class ImportTargetError extends HoldfastError {
  readonly code = "HOLDFAST_IMPORT_TARGET";
}

/** A newer attempt goes on with this import: this one has written nothing. */
export class ImportOvertakenError extends HoldfastError {
  readonly code = "HOLDFAST_IMPORT_OVERTAKEN";
  override readonly isRetryable = true;
}

/** The inbox of this process is another folder than that of the process which took the file. */
export class ImportInboxError extends HoldfastError {
  readonly code = "HOLDFAST_IMPORT_INBOX";
  override readonly isRetryable = true;
}

/** No import has this id: it never was, was removed, or was pruned. */
export class ImportNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_IMPORT_NOT_FOUND";
}
