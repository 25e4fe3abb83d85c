/**
 * Which row names the columns. Sheets of people have titles above their tables: of the first rows that have a value, the
 * header is the first one that fills at least two thirds of the width of the widest, mostly with text.
 */
import { columnLetters } from "./column-letters.ts";
import type { RawRow } from "./row-source.ts";
import type { CellValue } from "./sheet.ts";
import { SheetFault } from "./sheet-fault.ts";

/** How many rows with a value are looked at. */
export const HEADER_LOOKS = 50;

export interface Header {
  readonly row: number;
  readonly columns: readonly string[];
}

/** From the first rows: all that there are, or at least `HEADER_LOOKS`, or up to the one that is wanted. */
export function findHeader(rows: readonly RawRow[], wanted: number | null): Header {
  if (wanted !== null) {
    const given = rows.find(({ row }) => row === wanted);
    if (given !== undefined) return headerOf(given);
    throw new SheetFault("missing-header", "The row of the header is empty", `row ${wanted}`);
  }
  if (rows.length === 0) throw new SheetFault("empty-sheet", "The sheet has no rows");
  const looked = rows.slice(0, HEADER_LOOKS);
  const width = Math.max(...looked.map(({ cells }) => filled(cells).length));
  const found = looked.find(({ cells }) => looksLikeNames(cells, width));
  if (found !== undefined) return headerOf(found);
  throw new SheetFault(
    "missing-header",
    `None of the first rows looks like a header: give its number as headerRow`,
  );
}

function looksLikeNames(cells: readonly CellValue[], width: number): boolean {
  const values = filled(cells);
  const texts = values.filter((value) => typeof value === "string");
  return values.length * 3 >= width * 2 && texts.length * 2 > values.length;
}

function filled(cells: readonly CellValue[]): readonly CellValue[] {
  return cells.filter((value) => value !== null);
}

function headerOf({ row, cells }: RawRow): Header {
  // People break lines in headers to keep columns narrow.
  const columns = cells.map((value) =>
    value === null ? "" : String(value).replace(/\s+/g, " ").trim(),
  );
  while (columns.at(-1) === "") columns.pop();
  if (columns.length === 0) {
    throw new SheetFault("missing-header", "The row of the header is empty", `row ${row}`);
  }
  const seen = new Map<string, number>();
  for (const [at, name] of columns.entries()) {
    const first = seen.get(name);
    if (name !== "" && first !== undefined) {
      throw new SheetFault(
        "doubled-header",
        `Two columns have the name "${name.slice(0, 64)}": rename one`,
        `columns ${columnLetters(first)} and ${columnLetters(at)} of row ${row}`,
      );
    }
    seen.set(name, at);
  }
  return { row, columns };
}
