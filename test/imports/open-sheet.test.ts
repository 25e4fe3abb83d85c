/** A sheet as a caller has it: read in a thread of its own, as fast as it is taken, and gone when it is closed. */
import { appendFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { InvalidOptionError } from "holdfast";
import { describe, expect, it } from "vitest";
import {
  openSheet,
  SheetError,
  type ReadOptions,
  type SheetRow,
} from "../../packages/imports/src/index.ts";
import { fileOf, readAll } from "./read-all.ts";
import { stringItems, textCells, workbookOf } from "./workbook-writer.ts";

function manyRows(count: number): Buffer {
  const rows = Array.from(
    { length: count },
    (_, at) =>
      `<row r="${at + 2}"><c r="A${at + 2}"><v>${at}</v></c><c r="B${at + 2}" t="s"><v>${at % 100}</v></c></row>`,
  );
  const strings = stringItems(Array.from({ length: 100 }, (_, at) => `text ${at}`));
  return workbookOf({ strings, rows: textCells(1, ["id", "text"]) + rows.join("") });
}

async function rowsOf(rows: AsyncIterable<SheetRow>): Promise<SheetRow[]> {
  const all: SheetRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

describe("openSheet", () => {
  it("gives columns, rows, warnings and progress", async () => {
    const file = fileOf(
      workbookOf({
        rows:
          textCells(1, ["name", "city"]) +
          textCells(2, ["Ada", "London"]).replace("<row ", '<row hidden="1" '),
        after: '<mergeCells><mergeCell ref="A2:B2"/></mergeCells>',
      }),
    );
    await using sheet = await openSheet(file);
    expect(sheet).toMatchObject({
      format: "xlsx",
      name: "Sheet1",
      columns: ["name", "city"],
      headerRow: 1,
    });
    expect(sheet.progress).toBe(0);
    expect(() => sheet.rows({ from: 1 } as object)).toThrow(InvalidOptionError);
    expect(await rowsOf(sheet.rows())).toEqual([{ row: 2, cells: ["Ada", "London"] }]);
    expect(sheet.progress).toBe(1);
    expect(sheet.warnings.map(({ code, row }) => `${code} ${row}`)).toEqual([
      "hidden-row 2",
      "merged-cell 2",
    ]);
  });

  it("gives every row once and in its order, and goes on after a row", async () => {
    const file = fileOf(manyRows(5_000));
    const sheet = await openSheet(file);
    const all = await rowsOf(sheet.rows());
    expect(all).toHaveLength(5_000);
    expect(all.every(({ row, cells }, at) => row === at + 2 && cells[0] === at)).toBe(true);
    const again = await openSheet(file);
    expect(await rowsOf(again.rows({ after: 4_321 }))).toEqual(all.slice(4_320));
  });

  it("reads no farther than a few batches ahead of its caller", async () => {
    const sheet = await openSheet(fileOf(manyRows(20_000)));
    const rows = sheet.rows()[Symbol.asyncIterator]();
    await rows.next();
    // What could be read ahead is: then a turn of the other thread brings no more.
    await expect.poll(() => sheet.progress).toBeLessThan(1);
    await rows.return?.();
    expect(sheet.progress).toBeLessThan(0.5);
  });

  it("tells a file that is refused by its reason and place", async () => {
    const file = fileOf(workbookOf({ rows: textCells(1, ["a", "a"]) }));
    const error = await openSheet(file).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SheetError);
    expect(error).toMatchObject({
      ...{
        code: "HOLDFAST_SHEET",
        reason: "doubled-header",
        place: "columns A and B of row 1",
        isRetryable: false,
      },
    });
  });

  it("passes on what the system says of a file that is not there", async () => {
    await expect(openSheet("/nowhere/at/all.xlsx")).rejects.toMatchObject({ code: "ENOENT" });
    await expect(readAll(tmpdir())).rejects.toMatchObject({ reason: "not-a-spreadsheet" });
  });

  it("tells a file that changes while it is read", async () => {
    const file = fileOf(manyRows(20_000));
    const sheet = await openSheet(file);
    const rows = sheet.rows()[Symbol.asyncIterator]();
    await rows.next();
    appendFileSync(file, "more");
    const rest = async () => {
      while ((await rows.next()).done !== true);
    };
    await expect(rest()).rejects.toMatchObject({ reason: "file-changed" });
  });

  it("ends at an abort, before and in the middle", async () => {
    const file = fileOf(manyRows(20_000));
    const reason = new Error("stop");
    await expect(openSheet(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    const sheet = await openSheet(file, { signal: abort.signal });
    const walk = async () => {
      for await (const { row } of sheet.rows()) if (row === 3) abort.abort(reason);
    };
    await expect(walk()).rejects.toBe(reason);
  });

  it("has its rows walked once, and says so; a closed one says that", async () => {
    const closed = await openSheet(fileOf("a,b\n1,2\n"));
    await closed.close();
    await closed.close();
    await expect(rowsOf(closed.rows())).rejects.toMatchObject({ code: "HOLDFAST_CLOSED" });
    expect(() => closed.rows()).toThrow("can be walked once");
  });

  it("refuses options that it does not know or cannot follow, before it starts a thread", async () => {
    const file = fileOf("a,b\n1,2\n");
    const wrong = (options: object) => openSheet(file, options as ReadOptions);
    await expect(wrong({ sheets: 1 })).rejects.toThrow('did you mean "sheet"?');
    await expect(wrong({ limits: { row: 1 } })).rejects.toThrow('did you mean "rows"?');
    await expect(wrong({ limits: { rows: -1 } })).rejects.toThrow("limits.rows is a whole number");
    await expect(wrong({ headerRow: 0 })).rejects.toThrow("headerRow is a whole number from 1");
    await expect(wrong({ csv: { separator: ";;" } })).rejects.toThrow("one character");
    await expect(wrong({ csv: { encoding: "klingon" } })).rejects.toThrow('not "klingon"');
    await expect(wrong({ sheet: -1 })).rejects.toThrow(InvalidOptionError);
    await expect(wrong({ signal: 1 })).rejects.toThrow(InvalidOptionError);
    await expect(openSheet("")).rejects.toThrow(InvalidOptionError);
  });

  it("spills strings past their cap, reads the same, and leaves no file", async () => {
    const texts = Array.from({ length: 3_000 }, (_, at) => `text ${at} ${"é".repeat(at % 50)}`);
    const rows = texts.map(
      (_, at) => `<row r="${at + 2}"><c r="A${at + 2}" t="s"><v>${(at * 7) % 3_000}</v></c></row>`,
    );
    const file = fileOf(
      workbookOf({ strings: stringItems(texts), rows: textCells(1, ["text"]) + rows.join("") }),
    );
    const { rows: inMemory } = await readAll(file);
    const spilled = await openSheet(file, { limits: { stringBytes: 10_000 } });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("holdfast-sheet-"))).toEqual([]);
    expect(await rowsOf(spilled.rows())).toEqual(inMemory);
    expect(inMemory[1]?.cells).toEqual([texts[7]]);
  });

  it("chooses sheets by name, by index, and the first visible one; a missing one is told with those there are", async () => {
    const sheets = ["Hidden", "First", "AP Data"].map((name, at) => ({
      ...{ name, xml: textCells(1, ["from"]) + textCells(2, [name]) },
      ...(at === 0 ? { state: "hidden" as const } : {}),
    }));
    const file = fileOf(workbookOf({ sheets }));
    const nameOf = async (sheet?: string | number) => {
      return (await readAll(file, sheet === undefined ? {} : { sheet })).name;
    };
    expect([await nameOf(), await nameOf(0), await nameOf(2), await nameOf("ap data ")]).toEqual([
      ...["First", "Hidden", "AP Data", "AP Data"],
    ]);
    await expect(openSheet(file, { sheet: "Budget" })).rejects.toThrow(
      'it has "Hidden", "First", "AP Data"',
    );
    await expect(readAll(file, { sheet: 3 })).rejects.toMatchObject({ reason: "missing-sheet" });
  });

  it("warns of what was left out or is doubtful, and of no more than twenty of a kind", async () => {
    const errors = Array.from(
      { length: 30 },
      (_, at) =>
        `<row r="${at + 2}"><c r="A${at + 2}" t="e"><v>#REF!</v></c><c r="C${at + 2}"><v>1</v></c></row>`,
    );
    const file = fileOf(workbookOf({ rows: textCells(1, ["a", "b"]) + errors.join("") }));
    const sheet = await readAll(file);
    const codes = sheet.warnings.map(({ code }) => code);
    expect(codes.filter((code) => code === "formula-error")).toHaveLength(20);
    expect(sheet.warnings.filter(({ code }) => code === "no-header")).toMatchObject([
      { row: 2, column: "C" },
    ]);
  });

  it("does not keep a process alive that has forgotten it", async () => {
    const { spawnSync } = await import("node:child_process");
    const file = fileOf(manyRows(5_000));
    const entry = new URL("../../packages/imports/src/index.ts", import.meta.url).href;
    const program = fileOf(
      `import { openSheet } from "${entry}"; await openSheet(${JSON.stringify(file)}); console.log("open");`,
      "forgets.mjs",
    );
    const { stdout, status } = spawnSync(
      process.execPath,
      ["--conditions=@holdfast/source", program],
      {
        ...{ encoding: "utf8", timeout: 20_000 },
      },
    );
    expect({ stdout, status }).toEqual({ stdout: "open\n", status: 0 });
  });
});
