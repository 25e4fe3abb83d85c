/** Reads a file in this thread: what the reader's thread runs, and tests without one. */
import { openCsv } from "./csv-source.ts";
import { columnLetters } from "./column-letters.ts";
import { kindOf } from "./file-kind.ts";
import { findHeader, HEADER_LOOKS, type Header } from "./header.ts";
import type { ReadPlan } from "./read-plan.ts";
import type { RawRow, RowSource } from "./row-source.ts";
import type { CellValue, SheetRow } from "./sheet.ts";
import { SheetFault } from "./sheet-fault.ts";
import { SourceFile } from "./source-file.ts";
import { openXlsx } from "./xlsx-source.ts";

export class SheetReader {
  readonly header: Header;
  readonly #file: SourceFile;
  readonly #source: RowSource;
  readonly #plan: ReadPlan;
  /** Those that were read to find the header, and what follows them. */
  readonly #first: readonly RawRow[];
  readonly #rest: AsyncGenerator<readonly RawRow[], void>;
  readonly #unnamed = new Set<number>();
  #rows = 0;

  static async open(path: string, plan: ReadPlan): Promise<SheetReader> {
    const file = new SourceFile(path, plan.limits.fileBytes);
    let source: RowSource | null = null;
    try {
      return await unlessChanged(file, async () => {
        source = await (kindOf(file) === "zip" ? openXlsx : openCsv)(file, plan);
        const rest = source.batches();
        const first = await firstRows(rest, plan.headerRow);
        const header = findHeader(first, plan.headerRow);
        source.warnings.forgetMergedAbove(header.row);
        source.width = header.columns.length;
        return new SheetReader({ file, source, plan, first, rest, header });
      });
    } catch (error) {
      (source as RowSource | null)?.close();
      file.close();
      throw error;
    }
  }

  private constructor(parts: {
    readonly file: SourceFile;
    readonly source: RowSource;
    readonly plan: ReadPlan;
    readonly first: readonly RawRow[];
    readonly rest: AsyncGenerator<readonly RawRow[], void>;
    readonly header: Header;
  }) {
    this.#file = parts.file;
    this.#source = parts.source;
    this.#plan = parts.plan;
    this.#first = parts.first;
    this.#rest = parts.rest;
    this.header = parts.header;
  }

  get format(): "xlsx" | "csv" {
    return this.#source.format;
  }

  get name(): string {
    return this.#source.name;
  }

  get progress(): number {
    return this.#source.progress;
  }

  get warnings(): RowSource["warnings"] {
    return this.#source.warnings;
  }

  /** The rows below the header, and below `after`. */
  async *batches(after = 0): AsyncGenerator<readonly SheetRow[], void> {
    const file = this.#file;
    yield* this.#fitted(this.#first, after);
    for (;;) {
      const next = await unlessChanged(file, () => this.#rest.next());
      file.assertUnchanged();
      if (next.done === true) break;
      yield* this.#fitted(next.value, after);
    }
    this.warnings.forgetMergedAbove(this.header.row);
  }

  close(): void {
    this.#source.close();
    this.#file.close();
  }

  *#fitted(rows: readonly RawRow[], after: number): Generator<readonly SheetRow[], void> {
    const fitted: SheetRow[] = [];
    for (const { row, cells } of rows) {
      if (row <= this.header.row || !this.#fit(row, cells)) continue;
      this.#rows += 1;
      if (this.#rows > this.#plan.limits.rows) {
        throw new SheetFault(
          "too-many-rows",
          `The sheet has more than ${this.#plan.limits.rows} rows: divide it, or raise limits.rows`,
          `row ${row}`,
        );
      }
      if (row > after) fitted.push({ row, cells });
    }
    if (fitted.length > 0) yield fitted;
  }

  /** One value for each column. False if none of them has one. */
  #fit(row: number, cells: CellValue[]): boolean {
    const width = this.header.columns.length;
    while (cells.length < width) cells.push(null);
    for (let at = width; at < cells.length; at += 1) {
      if (cells[at] !== null && !this.#unnamed.has(at)) this.#warnUnnamed(row, at);
    }
    if (cells.length === width) return true;
    cells.length = width;
    return cells.some((value) => value !== null);
  }

  #warnUnnamed(row: number, at: number): void {
    this.#unnamed.add(at);
    const column = columnLetters(at);
    const message = `Column ${column} has no header: what stands in it is not read`;
    this.warnings.add({ row, column, code: "no-header", message });
  }
}

async function firstRows(
  batches: AsyncGenerator<readonly RawRow[], void>,
  headerRow: number | null,
): Promise<readonly RawRow[]> {
  const first: RawRow[] = [];
  for (;;) {
    const isEnough =
      headerRow === null ? first.length >= HEADER_LOOKS : (first.at(-1)?.row ?? 0) >= headerRow;
    if (isEnough) return first;
    const next = await batches.next();
    if (next.done === true) return first;
    for (const row of next.value) if (headerRow === null || row.row >= headerRow) first.push(row);
  }
}

/** A file that changes under its reader looks damaged: then the change is what is told. */
async function unlessChanged<Result>(
  file: SourceFile,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const hasChanged = error instanceof SheetFault && !file.isUnchanged;
    if (hasChanged) file.assertUnchanged();
    throw error;
  }
}
