import type { SheetErrorCode } from "./sheet.ts";

/**
 * Why a file cannot be read, as the reader's thread says it. The caller gets a `SheetError` made of it: that one is
 * the library's, and the thread loads nothing but its own few files.
 */
export class SheetFault extends Error {
  readonly reason: SheetErrorCode;
  /** Where in the file: a row, a cell, an entry of the archive. */
  readonly place: string | null;

  constructor(reason: SheetErrorCode, message: string, place: string | null = null) {
    super(message);
    this.name = "SheetFault";
    this.reason = reason;
    this.place = place;
  }
}

export function damaged(what: string, place: string | null = null): SheetFault {
  return new SheetFault("damaged", `The file is damaged: ${what}`, place);
}
