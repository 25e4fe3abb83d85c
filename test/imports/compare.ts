/** Our rows beside those of another reader, and where they differ. */
import { readXlsx, type CellValue as OtherValue } from "hucre";
import { parse } from "csv-parse/sync";
import type { CellValue } from "../../packages/imports/src/read/sheet.ts";
import type { ReadSheet } from "./read-all.ts";
import type { Shape } from "./shapes/shape.ts";

export interface Difference {
  /** As in `A1`. */
  readonly cell: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Rows from the first one on, as the other reader has them. */
type Grid = readonly (readonly (OtherValue | undefined)[])[];

type Same = (ours: CellValue, theirs: OtherValue) => boolean;

/** What LibreOffice has exported: text, in the forms of an American locale. */
export function libreOfficeGrid(csv: string): Grid {
  return parse(csv, { bom: true, relax_column_count: true, skip_empty_lines: false });
}

export async function hucreGrid(content: Buffer, { sheet }: Shape): Promise<Grid> {
  const { sheets } = await readXlsx(content, sheet === undefined ? {} : { sheets: [sheet] });
  return sheets[0]?.rows ?? [];
}

export function differences(sheet: ReadSheet, grid: Grid, isSame: Same): readonly Difference[] {
  const found: Difference[] = [];
  const width = sheet.columns.length;
  const rows = new Map(sheet.rows.map(({ row, cells }) => [row, cells]));
  const last = Math.max(grid.length, ...rows.keys());
  for (let row = sheet.headerRow; row <= last; row += 1) {
    const isHeader = row === sheet.headerRow;
    const ours = isHeader ? sheet.columns : rows.get(row);
    for (let column = 0; column < width; column += 1) {
      const mine = ours?.[column] ?? null;
      const other = grid[row - 1]?.[column] ?? null;
      const theirs = isHeader && other !== null ? String(other).replace(/\s+/g, " ").trim() : other;
      if (isHeader ? String(mine ?? "") === String(theirs ?? "") : isSame(mine, theirs)) continue;
      const cell = `${String.fromCharCode(65 + column)}${row}`;
      found.push({ cell, ours: shown(mine), theirs: shown(theirs) });
    }
  }
  return found;
}

function shown(value: OtherValue): string {
  return value instanceof Date ? isoOf(value) : String(value).slice(0, 40);
}

function isoOf(date: Date): string {
  return date
    .toISOString()
    .slice(0, -1)
    .replace(/\.000$/, "")
    .replace(/T00:00:00$/, "");
}

/** LibreOffice writes 15 digits. */
export const sameAsLibreOffice: Same = (ours, theirs) => {
  const text = String(theirs ?? "");
  if (ours === null) return text === "";
  if (typeof ours === "boolean") return text === String(ours).toUpperCase();
  if (typeof ours === "string") return text === ours || isoText(text) === ours;
  const value = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
  return text !== "" && Math.abs(value - ours) <= Math.abs(ours) * 1e-14;
};

function isoText(text: string): string {
  return text
    .replace(/^(\d\d)\/(\d\d)\/(\d{4})/, "$3-$1-$2")
    .replace(/^(\d\d)\.(\d\d)\.(\d{4})/, "$3-$2-$1")
    .replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, "$1T")
    .replace(/T00:00:00$/, "")
    .replace(/^12(:\d\d:\d\d) AM$/, "00$1")
    .replace(/^(\d\d:\d\d:\d\d) AM$/, "$1");
}

/** It gives dates as `Date`, and a time of a day as one of the first days. */
export const sameAsHucre: Same = (ours, theirs) => {
  if (!(theirs instanceof Date)) return ours === (theirs === "" ? null : theirs);
  const text = isoOf(theirs);
  return text === ours || (/^\d\d:/.test(String(ours)) && isoTime(theirs) === ours);
};

function isoTime(date: Date): string {
  return date.toISOString().slice(11, 19);
}
