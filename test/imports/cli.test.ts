/** `holdfast import` as a person types it. */
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startCli } from "../cli/real-process.ts";
import { onlyInFull } from "../runner/tier.ts";

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const CSV = "email,name\nann@example.com,Ann\nno address,Bob\nbob@example.com,Bob\n";
const JOBS = `
import { importTypes, openImports, sqliteTarget } from "@holdfast/imports";

export async function jobs(hf) {
  const target = sqliteTarget({ file: "app.db", table: "customers" });
  await openImports(hf, { inbox: "inbox", types: [importTypes.customers({ target })] });
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-import-cli-"));
  await symlink(modules, join(folder, "node_modules"), "junction");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "jobs.mjs"), JOBS);
  await writeFile(join(folder, "customers.csv"), CSV);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...argv: string[]) => startCli(["import", ...argv], folder).ended;

it("imports a file, says which rows failed, and leaves nothing in the inbox", async (test) => {
  onlyInFull(test);
  const db = new DatabaseSync(join(folder, "app.db"));
  db.exec("CREATE TABLE customers (email TEXT PRIMARY KEY, name TEXT)");
  const ran = await run("customers.csv", "--type", "customers", "--jobs", "jobs.mjs");
  expect(ran, ran.err).toMatchObject({ code: 1 });
  expect(ran.out).toContain("3 rows: 2 inserted, 0 updated, 1 failed");
  expect(ran.out).toMatch(/ROW +FAILED BECAUSE\n +3 +email: is no e-mail address/);
  expect(db.prepare("SELECT count(*) AS n FROM customers").get()).toEqual({ n: 2 });
  db.close();
  expect(await readdir(join(folder, "inbox/.uploads"))).toEqual([]);
  const again = await run("customers.csv", "--type", "customers", "--jobs", "jobs.mjs");
  expect(again).toMatchObject({ code: 1 });
  expect(again.err).toContain("was imported already");
});

it("says what is missing", async (test) => {
  onlyInFull(test);
  const [noFile, noType, noJobs] = await Promise.all([
    run("none.csv", "--type", "customers", "--dry-run"),
    run("customers.csv", "--type", "client", "--dry-run"),
    run("customers.csv", "--type", "customers"),
  ]);
  expect([noFile.code, noType.code, noJobs.code]).toEqual([3, 2, 2]);
  expect(noType.err).toContain("there are customers, ap, ar");
  expect(noJobs.err).toContain("--jobs ./jobs.ts");
});
