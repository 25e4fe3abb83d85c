/** A sheet made of arrays, for tests of what stands above the reader. */
import type {
  CellValue,
  RowsOptions,
  Sheet,
  SheetRow,
} from "../../packages/imports/src/read/sheet.ts";

export function arraySheet(
  columns: readonly string[],
  rows: readonly (readonly CellValue[])[],
  { headerRow = 1 }: { readonly headerRow?: number } = {},
): Sheet {
  let read = 0;
  return {
    ...{ format: "csv", name: "rows", columns, headerRow, warnings: [] },
    get progress() {
      return rows.length === 0 ? 1 : read / rows.length;
    },
    async *rows({ after = headerRow, signal }: RowsOptions = {}): AsyncIterable<SheetRow> {
      for (const [at, cells] of rows.entries()) {
        signal?.throwIfAborted();
        read = at + 1;
        const row = headerRow + at + 1;
        if (row > after && cells.some((cell) => cell !== null)) yield { row, cells };
      }
    },
    async close() {},
    async [Symbol.asyncDispose]() {},
  };
}
