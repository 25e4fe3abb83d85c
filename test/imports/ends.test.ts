/** How an import ends that is stopped in the middle: nothing goes on behind its back, nothing is missing after it. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineImport, emptyTarget } from "@holdfast/imports";
import type { RunningJob } from "holdfast";
import { importHandler } from "../../packages/imports/src/job/import-handler.ts";
import type { ImportPayload } from "../../packages/imports/src/job/import-payload.ts";
import { isRowFault } from "../../packages/imports/src/targets/postgres-driver.ts";
import type { Beginning, ImportTarget } from "../../packages/imports/src/targets/target.ts";
import { arraySheet } from "./array-sheet.ts";

function world(given: Partial<ImportTarget>, sheet = arraySheet(["name"], [["a"]])) {
  const inbox = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-ends-")));
  mkdirSync(join(inbox, ".uploads"));
  const path = join(inbox, ".uploads/x.csv");
  writeFileSync(path, "name\na\n");
  const stop = new AbortController();
  const target: ImportTarget = {
    ...emptyTarget(),
    begin: async ({ file }: Beginning) => ({
      ...{ file, upTo: 0, totalRows: 0, inserted: 0, updated: 0, failed: 0 },
      ...{ isFinished: false, notes: null },
    }),
    write: async (batch) => ({ inserted: batch.rows.length, updated: 0, failures: [] }),
    finish: async () => {},
    ...given,
  };
  const schema = { validate: (value: unknown) => ({ value: value as { name: string } }) };
  const run = importHandler(
    {
      ...{ inbox, limits: {}, batchSize: 1, maxErrors: 10, maxFileBytes: 1_000 },
      isShared: async () => true,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      openSheet: async () => sheet,
      removeLater: () => {},
    },
    defineImport({ type: "names", schema, key: ["name"], target }),
  );
  const job = {
    ...{ id: "1", fence: 1, attempt: 1, payload: { filePath: path }, signal: stop.signal },
    progress: () => {},
  } as unknown as RunningJob<ImportPayload>;
  const clean = () => rmSync(inbox, { recursive: true });
  return { stop, path, clean, run: () => run(job) };
}

it("an import whose file fails ends after its batch does, not before", async () => {
  const lines: string[] = [];
  const sheet = arraySheet(["name"], [["a"]]);
  const rows = async function* () {
    yield* sheet.rows();
    throw new Error("damaged");
  };
  const write: ImportTarget["write"] = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    lines.push("written");
    return { inserted: 1, updated: 0, failures: [] };
  };
  const { run, clean } = world({ write }, { ...sheet, rows });
  await run().catch((error: Error) => lines.push(error.message));
  expect(lines).toEqual(["written", "damaged"]);
  clean();
});

it("an import that is handed back at its end leaves its file: it comes again as its first attempt", async () => {
  const { run, stop, path, clean } = world({ finish: async () => stop.abort() });
  await run();
  expect(existsSync(path)).toBe(true);
  clean();
  const other = world({});
  await other.run();
  expect(existsSync(other.path)).toBe(false);
  other.clean();
});

it("a value that is too long for an index is the fault of its row", () => {
  expect(isRowFault({ code: "54000" })).toBe(true);
});
