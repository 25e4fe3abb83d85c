/**
 * Takes separated text apart as it arrives. A quote opens a field at its beginning only, two quotes inside are one, and
 * what follows a closing quote belongs to the field: so do the programs that people write such files with. A record is a
 * row, also an empty one, as in the sheet that would be made of it.
 */
import { cellName } from "./column-letters.ts";
import { BATCH_CHARACTERS, BATCH_ROWS, ROW_CHARACTERS, type RawRow } from "./row-source.ts";
import type { CellValue } from "./sheet.ts";
import { SheetFault, damaged } from "./sheet-fault.ts";

export interface CsvLimits {
  readonly columns: number;
  readonly cellCharacters: number;
}

const LINE_FEED = 10;
const RETURN = 13;
const QUOTE = 34;

type State = "field" | "plain" | "quoted" | "closed";

export class CsvRecords {
  readonly #separator: number;
  readonly #limits: CsvLimits;
  #text = "";
  #at = 0;
  #state: State = "field";
  #field = "";
  /** A line feed after a return ends nothing more. */
  #isAfterReturn = false;
  #row = 1;
  #column = 0;
  #cells: CellValue[] = [];
  #rowCharacters = 0;
  #quotedFrom = 0;
  #rows: RawRow[] = [];
  #characters = 0;
  /** How many fields the last complete record has, empty ones too. */
  #fields = 0;

  constructor(separator: string, limits: CsvLimits) {
    this.#separator = separator.charCodeAt(0);
    this.#limits = limits;
  }

  get row(): number {
    return this.#row;
  }

  get fields(): number {
    return this.#fields;
  }

  /** Everything that was fed is read. */
  get isDone(): boolean {
    return this.#at >= this.#text.length;
  }

  feed(text: string): void {
    this.#text = this.#at < this.#text.length ? this.#text.slice(this.#at) + text : text;
    this.#at = 0;
  }

  take(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    return rows;
  }

  /** Up to the end of what was fed, or to a full batch. False for the latter: it is called again. */
  run(): boolean {
    while (this.#at < this.#text.length) {
      const row = this.#row;
      this.step();
      if (this.#row === row) continue;
      if (this.#rows.length >= BATCH_ROWS || this.#characters >= BATCH_CHARACTERS) return false;
    }
    return true;
  }

  /** One piece of a field, a separator, or the end of a record. */
  step(): void {
    const text = this.#text;
    const code = text.charCodeAt(this.#at);
    if (this.#isAfterReturn) {
      this.#isAfterReturn = false;
      if (code === LINE_FEED) {
        this.#at += 1;
        return;
      }
    }
    if (this.#state === "field") {
      this.#state = code === QUOTE ? "quoted" : "plain";
      if (code === QUOTE) {
        this.#quotedFrom = this.#row;
        this.#at += 1;
        return;
      }
    } else if (this.#state === "closed") {
      this.#state = code === QUOTE ? "quoted" : "plain";
      if (code === QUOTE) {
        this.#append(this.#at, this.#at + 1);
        return;
      }
    }
    if (this.#state === "quoted") this.#quotedPiece();
    else this.#plainPiece();
  }

  /** The last record may have no line end. */
  end(): void {
    if (this.#state === "quoted") {
      throw damaged("a quoted field has no end", `row ${this.#quotedFrom}`);
    }
    if (this.#state !== "field" || this.#column > 0) this.#endRecord();
  }

  #quotedPiece(): void {
    const quote = this.#text.indexOf('"', this.#at);
    if (quote === -1) {
      this.#append(this.#at, this.#text.length);
      return;
    }
    this.#append(this.#at, quote);
    this.#at = quote + 1;
    this.#state = "closed";
  }

  #plainPiece(): void {
    const text = this.#text;
    const separator = this.#separator;
    let to = this.#at;
    let code = -1;
    for (; to < text.length; to += 1) {
      code = text.charCodeAt(to);
      if (code === separator || code === LINE_FEED || code === RETURN) break;
    }
    this.#append(this.#at, to);
    if (to === text.length) return;
    this.#at = to + 1;
    if (code === separator) {
      this.#endField();
    } else {
      this.#isAfterReturn = code === RETURN;
      this.#endRecord();
    }
  }

  #append(from: number, to: number): void {
    this.#at = to;
    if (to === from) return;
    const piece = this.#text.slice(from, to);
    this.#field = this.#field === "" ? piece : this.#field + piece;
    this.#rowCharacters += to - from;
    const { cellCharacters } = this.#limits;
    if (this.#field.length <= cellCharacters && this.#rowCharacters <= ROW_CHARACTERS) return;
    const isCell = this.#field.length > cellCharacters;
    const what = isCell
      ? `A cell has more than ${cellCharacters}`
      : `A row has more than ${ROW_CHARACTERS}`;
    const place = cellName(this.#row, this.#column);
    throw new SheetFault("cell-too-long", `${what} characters`, place);
  }

  #endField(): void {
    const column = this.#column;
    if (this.#field !== "") {
      if (column >= this.#limits.columns) {
        throw new SheetFault(
          "too-many-columns",
          `The sheet has more than ${this.#limits.columns} columns`,
          cellName(this.#row, column),
        );
      }
      while (this.#cells.length < column) this.#cells.push(null);
      this.#cells.push(this.#field);
    }
    this.#field = "";
    this.#column = column + 1;
    this.#state = "field";
  }

  #endRecord(): void {
    this.#endField();
    if (this.#cells.length > 0) {
      this.#rows.push({ row: this.#row, cells: this.#cells });
      this.#characters += this.#rowCharacters;
      this.#cells = [];
    }
    this.#fields = this.#column;
    this.#rowCharacters = 0;
    this.#row += 1;
    this.#column = 0;
  }
}
