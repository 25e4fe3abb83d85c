/** What every target does alike. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineImport } from "../../packages/imports/src/define-import.ts";
import { ImportOvertakenError, ImportTargetError } from "../../packages/imports/src/errors.ts";
import { runImport } from "../../packages/imports/src/job/run-import.ts";
import type { CellValue, Sheet } from "../../packages/imports/src/read/sheet.ts";
import type { ImportTarget, TargetRow } from "../../packages/imports/src/targets/target.ts";
import { arraySheet } from "./array-sheet.ts";
import { TARGET_NAMES } from "./target-of.ts";
import { targetPlace, type TargetPlace } from "./target-places.ts";

const schema = z.object({
  ...{ email: z.string(), name: z.string().optional(), amount: z.number().optional() },
  ...{ day: z.iso.date().optional(), n: z.number().optional() },
});
const COLUMNS = ["email", "name", "amount", "day", "n"];

function row(at: number, values: Readonly<Record<string, unknown>>): TargetRow {
  return { row: at, key: { email: String(values["email"]) }, values };
}

describe.each(TARGET_NAMES)("%s as a target", (name) => {
  let place: TargetPlace;
  let target: ImportTarget;
  beforeAll(async () => {
    place = await targetPlace(name);
    target = place.target();
  });
  afterAll(async () => {
    await target?.close();
    await place?.drop();
  });

  const begin = (job: string, fence = 1) => target.begin({ job, fence, type: "people", file: "f" });
  const batch = (job: string, rows: readonly TargetRow[], more: object = {}) => ({
    ...{ job, fence: 1, after: 0, upTo: 10, totalRows: rows.length, keep: 100 },
    ...{ rows, failures: [], ...more },
  });

  function importSheet(sheet: Sheet, more: object = {}) {
    const definition = defineImport({ type: "people", schema, key: ["email"], target });
    return runImport({
      ...{ definition, path: "here", fileName: "people.csv", sha256: "f", read: {}, fence: 1 },
      ...{ job: randomUUID(), dryRun: false, batchSize: 3, maxErrors: 100, progress() {} },
      ...{ signal: new AbortController().signal, openSheet: async () => sheet },
      ...more,
    });
  }

  it("tells inserted from updated, and leaves what empty cells do not mention", async () => {
    await target.prepare(["email"]);
    await begin("a");
    const ann = { email: "ann", name: "Ann", amount: 1.5, day: "2026-01-31", n: 1 };
    expect(await target.write(batch("a", [row(2, ann), row(3, { email: "bob" })]))).toEqual({
      ...{ inserted: 2, updated: 0, failures: [] },
    });
    await begin("b");
    const rows = [row(2, { email: "ann", amount: 2 }), row(3, { email: "cid", n: undefined })];
    expect(await target.write(batch("b", rows))).toMatchObject({ inserted: 1, updated: 1 });
    expect(await place.rows()).toEqual([{ ...ann, amount: 2 }, { email: "bob" }, { email: "cid" }]);
  });

  it("a row that it refuses fails alone, whatever else is in its batch", async () => {
    const sheet = arraySheet(COLUMNS, [
      ["r1", "x", 1, null, null],
      ["r2", "refused", 1, null, null],
      ["r3", "x", 1, "no day", null],
      ["r4", "x", 1, null, null],
      [null, "x", 1, null, null],
      ["r1", "refused", 1, null, null],
      ["r5", "x", 1, null, null],
    ]);
    const summary = await importSheet(sheet);
    expect(summary).toMatchObject({ totalRows: 7, inserted: 3, updated: 0, failed: 4 });
    expect(summary.errors.map((one) => one.row)).toEqual([3, 4, 6, 7]);
    expect(summary.errors.every(({ reason }) => reason.length > 5)).toBe(true);
    const there = (await place.rows()).map((one) => one["email"]);
    expect(there).toEqual(expect.arrayContaining(["r1", "r4", "r5"]));
    expect(there).not.toContain("r2");
  });

  it("of two rows with one key the later wins, in one batch or in two, and it is reported", async () => {
    const rows: CellValue[][] = [
      ["twin", "first", 1, null, 1],
      ["twin", "second", null, null, 2],
      ["alone", "x", 1, null, 1],
      ["twin", "third", null, null, null],
    ];
    const summary = await importSheet(arraySheet(COLUMNS, rows));
    expect(summary).toMatchObject({
      totalRows: 4,
      inserted: 2,
      updated: 2,
      failed: 0,
      replaced: 2,
    });
    expect(summary.warnings).toEqual([
      { row: 2, reason: "row 3 has the same key, and is the one that counts" },
      { row: 3, reason: "row 5 has the same key, and is the one that counts" },
    ]);
    const twin = (await place.rows()).find((one) => one["email"] === "twin");
    expect(twin).toEqual({ email: "twin", name: "third", amount: 1, n: 2 });
  });

  it("a dry run counts the same and writes nothing", async () => {
    const rows: CellValue[][] = [
      ["dry", "x", 1, null, 1],
      ["dry", "y", 1, null, 1],
      ["alone", "y", 1, null, 1],
      ["dry2", "x", 1, "no day", 1],
    ];
    const before = await place.rows();
    const dry = await importSheet(arraySheet(COLUMNS, rows), { dryRun: true });
    expect(dry).toMatchObject({ totalRows: 4, inserted: 1, updated: 2, failed: 1, replaced: 1 });
    expect(dry.errors).toEqual([{ row: 5, reason: expect.stringContaining("day") as string }]);
    expect(await place.rows()).toEqual(before);
    const real = await importSheet(arraySheet(COLUMNS, rows));
    expect({ ...real, dryRun: true }).toEqual(dry);
  });

  it("where the later of two rows with one key is refused, the earlier counts", async () => {
    const rows: CellValue[][] = [
      ["pair", "good", 1, null, 1],
      ["pair", "refused", 2, null, 2],
    ];
    const summary = await importSheet(arraySheet(COLUMNS, rows));
    expect(summary).toMatchObject({ totalRows: 2, inserted: 1, updated: 0, failed: 1 });
    const pair = (await place.rows()).find((one) => one["email"] === "pair");
    expect(pair).toEqual({ email: "pair", name: "good", amount: 1, n: 1 });
  });

  it("goes on behind the last batch, and counts on", async () => {
    const job = randomUUID();
    const stop = new AbortController();
    const rows = Array.from({ length: 10 }, (_, n): CellValue[] => [`go${n}`, "x", n, null, n % 4]);
    rows[4] = ["go4", "x", null, "bad", 1];
    const sheet = () => arraySheet(COLUMNS, rows);
    const progress = (_share: number, done: number) => void (done === 6 && stop.abort());
    const first = importSheet(sheet(), { job, signal: stop.signal, progress });
    await expect(first).rejects.toThrow();
    const second = await importSheet(sheet(), { job, fence: 2 });
    expect(second).toMatchObject({ totalRows: 10, inserted: 9, updated: 0, failed: 1 });
    expect(second.errors).toEqual([{ row: 6, reason: expect.any(String) as string }]);
    expect(await importSheet(sheet(), { job, fence: 3, path: null })).toEqual(second);
  });

  it("an attempt that was overtaken writes nothing", async () => {
    await begin("o", 1);
    expect(await begin("o", 2)).toMatchObject({ upTo: 0 });
    const stale = batch("o", [row(2, { email: "stale" })]);
    await expect(target.write(stale)).rejects.toThrow(ImportOvertakenError);
    await expect(begin("o", 1)).rejects.toThrow(ImportOvertakenError);
    await expect(target.finish({ job: "o", fence: 1, after: 0, notes: "" })).rejects.toThrow(
      ImportOvertakenError,
    );
    // On a single MongoDB a stale batch is refused before it is written, too.
    expect((await place.rows()).map((one) => one["email"])).not.toContain("stale");
    // The same batch a second time, after its reply was lost: it is there already.
    const newer = batch("o", [row(2, { email: "newer" })], { fence: 2 });
    await target.write(newer);
    await expect(target.write(newer)).rejects.toThrow(ImportOvertakenError);
  });

  it("two imports of the same rows at once both come to their end, and insert each row once", async () => {
    const rows = Array.from({ length: 40 }, (_, n): CellValue[] => [`par${n}`, "x", n, null, 1]);
    const other = place.target();
    const definition = defineImport({ type: "people", schema, key: ["email"], target: other });
    const both = await Promise.all([
      importSheet(arraySheet(COLUMNS, rows), { batchSize: 20 }),
      importSheet(arraySheet(COLUMNS, rows.toReversed()), { definition, batchSize: 20 }),
    ]);
    await other.close();
    const sum = (field: "inserted" | "updated") => both[0][field] + both[1][field];
    if (name !== "mongodb-standalone") expect([sum("inserted"), sum("updated")]).toEqual([40, 40]);
    expect(both.map((one) => one.failed)).toEqual([0, 0]);
    const there = (await place.rows()).filter((one) => String(one["email"]).startsWith("par"));
    expect(there).toHaveLength(40);
  });

  if (name === "sqlite" || name === "postgres") {
    it("a table that cannot take the rows is refused with what to do", async () => {
      await expect(target.prepare(["name"])).rejects.toThrow(/CREATE UNIQUE INDEX/);
      await expect(target.prepare(["nothing"])).rejects.toThrow(/has no column nothing/);
      await target.prepare(["email"]);
      const wrong = batch("w", [row(2, { email: "w", colour: "red" })]);
      await expect(target.write(wrong)).rejects.toThrow(ImportTargetError);
    });
  }

  it("keeps as many failures as it may, and counts all", async () => {
    const rows = Array.from({ length: 9 }, (_, n): CellValue[] => [null, `${n}`, null, null, null]);
    const summary = await importSheet(arraySheet(COLUMNS, rows), { maxErrors: 4 });
    expect(summary).toMatchObject({ failed: 9, errorsLeftOut: 5 });
    expect(summary.errors).toHaveLength(4);
  });
});
