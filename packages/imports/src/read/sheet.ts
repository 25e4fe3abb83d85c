import { HoldfastError } from "holdfast";

/**
 * What a reader of a spreadsheet gives, whatever the file's format is: the reader of XLSX and the one of CSV
 * both answer with it, and the import job knows nothing else of a file.
 */
export interface Sheet extends AsyncDisposable {
  readonly format: "xlsx" | "csv";
  /** The sheet's own name; a CSV has the file's. */
  readonly name: string;
  /** The cells of the header row, trimmed, in their order. */
  readonly columns: readonly string[];
  /** The number of the header row, as a person sees it in the sheet: the first row is 1. */
  readonly headerRow: number;
  /** The rows after the header, in their order, none of them empty. Can be walked once. */
  rows(options?: RowsOptions): AsyncIterable<SheetRow>;
  /** What the reader noticed up to now; bounded. */
  readonly warnings: readonly SheetWarning[];
  /** How far the reader has come in the file, from 0 to 1. */
  readonly progress: number;
  close(): Promise<void>;
}

export interface RowsOptions {
  /** Begins after this row (as a person counts): a killed import goes on here. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export interface SheetRow {
  /** As a person sees it in the sheet: the first row is 1. */
  readonly row: number;
  /** One value for each column of the header. */
  readonly cells: readonly CellValue[];
}

/** A date is ISO text without a zone, an error of a formula its text (`#REF!`), an empty cell null. */
export type CellValue = string | number | boolean | null;

export interface SheetWarning {
  readonly row: number;
  /** A letter as in the sheet (`B`), where the warning concerns one cell. */
  readonly column?: string;
  readonly code:
    | "merged-cell"
    | "hidden-row"
    | "hidden-column"
    | "formula-error"
    | "no-cached-value"
    /** Cells stand in a column that the header does not name: they are not read. */
    | "no-header";
  readonly message: string;
}

export interface ReadOptions {
  /** By name or by index from 0; the first visible sheet unless told otherwise. */
  readonly sheet?: string | number;
  /** The number of the header row; found unless told otherwise. */
  readonly headerRow?: number;
  readonly limits?: Partial<ReadLimits>;
  /** Of a CSV; found unless told otherwise. */
  readonly csv?: { readonly separator?: string; readonly encoding?: string };
  readonly signal?: AbortSignal;
}

export interface ReadLimits {
  /** Of the file itself. */
  readonly fileBytes: number;
  /** Of everything that is unpacked from it, in all. */
  readonly unpackedBytes: number;
  readonly rows: number;
  readonly columns: number;
  readonly cellCharacters: number;
  /** Of shared strings that are kept in memory; what is above is spilled to a file. */
  readonly stringBytes: number;
}

/** The reasons for which a file cannot be read: what is wrong with it, and where. Trying again helps none. */
export type SheetErrorCode =
  | "not-a-spreadsheet"
  | "encrypted"
  | "macros"
  | "damaged"
  | "too-large"
  | "bomb"
  | "entities"
  | "missing-sheet"
  | "empty-sheet"
  | "missing-header"
  | "doubled-header"
  | "too-many-rows"
  | "too-many-columns"
  | "cell-too-long"
  | "bad-encoding"
  | "file-changed";

export class SheetError extends HoldfastError {
  readonly code = "HOLDFAST_SHEET";
  readonly reason: SheetErrorCode;
  /** Where in the file: a row, a cell, an entry of the archive. */
  readonly place: string | null;
  constructor(reason: SheetErrorCode, message: string, place: string | null = null) {
    super(place === null ? message : `${message} (${place})`);
    this.reason = reason;
    this.place = place;
  }
}
