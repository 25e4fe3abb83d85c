/**
 * Makes rows of a worksheet's XML. It stands in a cell, in a row, or outside of both; text is gathered inside of `v`,
 * and of `t` in an inline string. A formula counts by the value that the program which wrote the file has kept.
 */
import { cellName, columnLetters } from "./column-letters.ts";
import { cellNumber } from "./cell-number.ts";
import { GatheredText } from "./gathered-text.ts";
import type { FormatKind } from "./number-format.ts";
import { PlainCell } from "./plain-cell.ts";
import { BATCH_CHARACTERS, BATCH_ROWS, ROW_CHARACTERS, type RawRow } from "./row-source.ts";
import { dateText, isoCell } from "./serial-date.ts";
import type { CellValue, ReadLimits } from "./sheet.ts";
import { SheetFault, damaged } from "./sheet-fault.ts";
import type { SheetWarnings } from "./sheet-warnings.ts";
import type { StringTable } from "./string-table.ts";
import { wholeOf, type XmlTag } from "./xml-tag.ts";
import type { XmlSink } from "./xml-tokens.ts";

const MAX_ROW = 1_048_576;
const MAX_COLUMN = 16_384;
/** The letters of types whose values are numbers, and what a truth value is. */
const NUMBER = 110;
const SHARED = 115;
const BOOLEAN = 98;
const ZERO = 48;
const ONE = 49;

export interface WorksheetOptions {
  readonly strings: StringTable | null;
  readonly styles: readonly FormatKind[];
  readonly is1904: boolean;
  readonly limits: ReadLimits;
  readonly warnings: SheetWarnings;
  /** There is enough for one batch. */
  readonly onFull: () => void;
}

export class WorksheetSink {
  readonly #options: WorksheetOptions;
  readonly #gathered: GatheredText;
  readonly #plain = new PlainCell();
  #rows: RawRow[] = [];
  #characters = 0;
  #taken = 0;

  #isInData = false;
  #row = 0;
  #isHidden = false;
  #cells: CellValue[] = [];
  #hasValue = false;
  #rowCharacters = 0;
  /** As wide as a row is, once that is known: copied, a row is made without growing. */
  #blank: readonly CellValue[] = [];

  #isInCell = false;
  #column = -1;
  #type = "n";
  #style = 0;
  #hasFormula = false;
  #isInInline = false;
  #isInText = false;
  #phonetic = 0;

  constructor(options: WorksheetOptions) {
    this.#options = options;
    this.#gathered = new GatheredText(options.limits.cellCharacters);
  }

  /** The rows that are complete; they are the caller's. */
  take(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#taken += this.#characters;
    this.#characters = 0;
    return rows;
  }

  /** The texts of all rows that were taken, added up. */
  get characters(): number {
    return this.#taken;
  }

  /** Rows are expected to be so wide. */
  set width(width: number) {
    this.#blank = Array.from({ length: width }, () => null);
  }

  readonly open: XmlSink["open"] = (name, tag) => {
    if (this.#isInCell) this.#openInCell(name);
    else if (name === "c") this.#openCell(tag);
    else if (name === "row") this.#openRow(tag);
    else if (name === "sheetData") this.#isInData = true;
    else if (name === "mergeCell") this.#merged(tag);
    else if (name === "col") this.#hiddenColumns(tag);
  };

  readonly close: XmlSink["close"] = (name) => {
    if (name === "v") this.#isInText = false;
    else if (name === "c") this.#closeCell();
    else if (name === "row") this.#closeRow();
    else if (name === "t") this.#isInText = false;
    else if (name === "is") this.#isInInline = false;
    else if (name === "rPh") this.#phonetic -= 1;
    else if (name === "sheetData") this.#isInData = false;
  };

  readonly text: XmlSink["text"] = (data, from, to, isRaw) => {
    if (!this.#isInText) return;
    if (isRaw) this.#gathered.addRaw(data, from, to);
    else this.#gathered.add(data, from, to);
  };

  readonly whole = (data: Buffer, at: number): number => {
    if (this.#isInCell || !this.#isInData) return -1;
    const cell = this.#plain;
    const end = cell.read(data, at);
    if (end === -1 || cell.row !== this.#row || cell.row === 0 || cell.column < 0) return -1;
    const { type, from, to } = cell;
    if (type === BOOLEAN && (to - from > 1 || (data[from] !== ZERO && data[from] !== ONE)))
      return -1;
    if (type !== NUMBER && type !== SHARED && type !== BOOLEAN) return -1;
    if (cell.column >= MAX_COLUMN) return -1;
    this.#column = cell.column;
    this.#style = cell.style;
    if (type === SHARED) this.#put(this.#shared(wholeOf(data, from, to)));
    else if (type === NUMBER) this.#put(this.#number(data, from, to));
    else this.#put(data[from] === ONE);
    return end;
  };

  #openRow(tag: XmlTag): void {
    if (!this.#isInData) return;
    const index = tag.indexOf("r");
    const row = index === -1 ? this.#row + 1 : wholeOf(tag.data, tag.from(index), tag.to(index));
    if (row <= this.#row || row > MAX_ROW) {
      throw damaged("its rows are not in their order", `after row ${this.#row}`);
    }
    this.#row = row;
    this.#isHidden = tag.isTrue("hidden");
    this.#column = -1;
    this.#cells = this.#blank.slice();
    this.#hasValue = false;
    this.#rowCharacters = 0;
  }

  #openCell(tag: XmlTag): void {
    if (!this.#isInData || this.#row === 0) return;
    this.#isInCell = true;
    this.#hasFormula = false;
    this.#gathered.clear();
    const reference = tag.indexOf("r");
    this.#column = reference === -1 ? this.#column + 1 : this.#columnOf(tag, reference);
    if (this.#column >= MAX_COLUMN) throw this.#damaged("a cell is outside of every sheet");
    const style = tag.indexOf("s");
    this.#style = style === -1 ? 0 : wholeOf(tag.data, tag.from(style), tag.to(style));
    const type = tag.indexOf("t");
    this.#type = type === -1 ? "n" : typeOf(tag, type);
  }

  /** `B12` is column 1; its row is the one that it stands in. */
  #columnOf(tag: XmlTag, index: number): number {
    const { data } = tag;
    const end = tag.to(index);
    let at = tag.from(index);
    let column = 0;
    for (; at < end; at += 1) {
      const letter = data[at]! & 0xdf;
      if (letter < 65 || letter > 90 || column > MAX_COLUMN) break;
      column = column * 26 + letter - 64;
    }
    if (column === 0 || wholeOf(data, at, end) !== this.#row) {
      throw damaged("a cell is not where it says", `row ${this.#row}`);
    }
    return column - 1;
  }

  #openInCell(name: string): void {
    if (name === "v") this.#isInText = true;
    else if (name === "f") this.#hasFormula = true;
    else if (name === "is") this.#isInInline = true;
    else if (name === "t") this.#isInText = this.#isInInline && this.#phonetic === 0;
    else if (name === "rPh") this.#phonetic += 1;
    else if (name === "c" || name === "row") throw this.#damaged("a cell is inside of another");
  }

  #closeCell(): void {
    if (!this.#isInCell) return;
    this.#isInCell = false;
    const value = this.#value();
    if (value === null) {
      if (this.#hasFormula && this.#gathered.length === 0 && this.#type !== "str") {
        this.#warn("no-cached-value", "A formula has no value: open and save the file once");
      }
      return;
    }
    this.#put(value);
  }

  #put(value: CellValue): void {
    if (value === null) return;
    if (typeof value === "string") this.#count(value);
    const column = this.#column;
    const cells = this.#cells;
    if (column >= this.#options.limits.columns) {
      throw new SheetFault(
        "too-many-columns",
        `The sheet has more than ${this.#options.limits.columns} columns`,
        cellName(this.#row, column),
      );
    }
    while (cells.length < column) cells.push(null);
    cells[column] = value;
    this.#hasValue = true;
  }

  #closeRow(): void {
    if (!this.#isInData || !this.#hasValue) return;
    this.#hasValue = false;
    const row = this.#row;
    if (this.#isHidden) {
      const message = `Row ${row} is hidden, and was read`;
      this.#options.warnings.add({ row, code: "hidden-row", message });
    }
    this.#rows.push({ row, cells: this.#cells });
    this.#characters += this.#rowCharacters;
    if (this.#rows.length >= BATCH_ROWS || this.#characters >= BATCH_CHARACTERS) {
      this.#options.onFull();
    }
  }

  #value(): CellValue {
    const { length, bytes } = this.#gathered;
    if (length === 0) return null;
    switch (this.#type) {
      case "n":
        return this.#number(bytes, 0, length);
      case "s":
        return this.#shared(wholeOf(bytes, 0, length));
      case "b":
        return this.#boolean();
      case "e": {
        const text = this.#gathered.toText();
        this.#warn("formula-error", `A formula has failed: ${text.slice(0, 32)}`);
        return text;
      }
      case "d":
        return isoCell(this.#gathered.toText());
      default:
        return this.#gathered.toText() || null;
    }
  }

  #number(bytes: Buffer, from: number, to: number): CellValue {
    const value = cellNumber(bytes, from, to);
    if (Number.isNaN(value)) throw this.#damaged("a number is none");
    const kind = this.#options.styles[this.#style];
    if (kind === undefined || kind === "number") return value;
    return dateText(value, kind, this.#options.is1904);
  }

  #shared(index: number): CellValue {
    const { strings } = this.#options;
    if (strings === null || index < 0 || index >= strings.count) {
      throw this.#damaged("a cell names a text that is not there");
    }
    return strings.get(index) || null;
  }

  #boolean(): boolean {
    const text = this.#gathered.toText().trim();
    if (text === "1" || text === "true") return true;
    if (text === "0" || text === "false") return false;
    throw this.#damaged("a truth value is none");
  }

  #count(text: string): void {
    const { cellCharacters } = this.#options.limits;
    this.#rowCharacters += text.length;
    if (text.length <= cellCharacters && this.#rowCharacters <= ROW_CHARACTERS) return;
    const [what, most] =
      text.length > cellCharacters ? ["A cell", cellCharacters] : ["A row", ROW_CHARACTERS];
    throw new SheetFault(
      "cell-too-long",
      `${what} has more than ${most} characters`,
      cellName(this.#row, this.#column),
    );
  }

  #merged(tag: XmlTag): void {
    const reference = tag.text("ref") ?? "";
    const [, column = "", row = ""] = /^([A-Z]{1,3})(\d{1,7}):/.exec(reference) ?? [];
    if (row === "") return;
    const message = `${reference.slice(0, 32)} is merged: its value is read in its first cell only`;
    this.#options.warnings.add({ row: Number(row), column, code: "merged-cell", message });
  }

  #hiddenColumns(tag: XmlTag): void {
    const { warnings } = this.#options;
    if (!tag.isTrue("hidden") || warnings.isFull("hidden-column")) return;
    const from = tag.whole("min");
    const to = Math.min(tag.whole("max"), this.#options.limits.columns);
    for (let column = Math.max(from, 1); column <= to; column += 1) {
      const letters = columnLetters(column - 1);
      const message = `Column ${letters} is hidden, and was read`;
      const warning = { row: 1, column: letters, code: "hidden-column" as const, message };
      warnings.add(warning);
    }
  }

  #warn(code: "formula-error" | "no-cached-value", message: string): void {
    const column = columnLetters(this.#column);
    this.#options.warnings.add({ row: this.#row, column, code, message });
  }

  #damaged(what: string): SheetFault {
    return damaged(what, cellName(this.#row, Math.max(0, this.#column)));
  }
}

/** The most frequent ones without making a string. */
function typeOf(tag: XmlTag, index: number): string {
  const from = tag.from(index);
  if (tag.to(index) - from === 1) {
    const byte = tag.data[from];
    if (byte === 115) return "s";
    if (byte === 110) return "n";
  }
  return tag.text("t") ?? "n";
}
