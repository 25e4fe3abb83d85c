/**
 * The SQLite store on the tables of the next version, as far as anybody can know them: a step only adds.
 * Here every table has one column more, which this code does not name, and there is one table more.
 */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, it } from "vitest";
import { sqliteStore } from "../../stores/sqlite/index.ts";
import { MIGRATIONS } from "../../stores/sqlite/migrations.ts";
import { onlyInFull, TIER } from "../../../../../test/runner/tier.ts";
import { storeConformance } from "./index.ts";

let templates: string;
const template = (): string => join(templates, "next.db");

beforeAll(async () => {
  templates = await mkdtemp(join(tmpdir(), "holdfast-next-schema-"));
  const store = sqliteStore({ file: template() });
  await store.open();
  await store.close();
  const database = new DatabaseSync(template());
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) {
    if (!String(name).startsWith("holdfast_")) continue;
    database.exec(`ALTER TABLE ${String(name)} ADD COLUMN next_version TEXT NOT NULL DEFAULT 'x'`);
  }
  database.exec(`
    CREATE TABLE holdfast_next (n INTEGER PRIMARY KEY) STRICT;
    UPDATE holdfast_meta SET value = '${MIGRATIONS.length + 1}' WHERE key = 'schema';
    UPDATE holdfast_meta SET value = '${MIGRATIONS.length}' WHERE key = 'serves'`);
  database.close();
});
afterAll(() => rm(templates, { recursive: true }));

const inFull = TIER === "full" ? describe : () => {};
if (TIER !== "full") it("the SQLite store passes its suite on the next tables", onlyInFull);

inFull("the SQLite store on the tables of the next version", () => {
  storeConformance({
    describe,
    it,
    transactions: true,
    rewinds: true,
    async place() {
      const folder = await mkdtemp(join(tmpdir(), "holdfast-next-schema-"));
      const file = join(folder, "jobs.db");
      await copyFile(template(), file);
      const callers: DatabaseSync[] = [];
      let now = Date.UTC(2031, 0, 1);
      return {
        // What survives a power loss is not asked here.
        open: async () => sqliteStore({ file, now: () => now, synchronous: "normal" }),
        advance: async (ms) => void (now += ms),
        rewind: async (ms) => void (now -= ms),
        async transaction() {
          const tx = new DatabaseSync(file);
          callers.push(tx);
          tx.exec("BEGIN IMMEDIATE");
          return {
            tx,
            commit: async () => tx.exec("COMMIT"),
            rollback: async () => tx.exec("ROLLBACK"),
          };
        },
        async dispose() {
          for (const tx of callers) tx.close();
          await rm(folder, { recursive: true });
        },
      };
    },
  });
});
