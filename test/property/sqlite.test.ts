import fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "vitest";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { storeProperties } from "./index.ts";

describe("the SQLite store", () => {
  storeProperties({
    describe,
    it,
    fc,
    hasTransactions: true,
    command: "npx vitest run test/property/sqlite.test.ts",
    async place() {
      const folder = await mkdtemp(join(tmpdir(), "holdfast-property-"));
      const file = join(folder, "jobs.db");
      const callers: DatabaseSync[] = [];
      let now = Date.UTC(2031, 0, 1);
      return {
        // What survives a power loss is not asked here, and not waiting for the disk buys more runs.
        open: async () => sqliteStore({ file, now: () => now, synchronous: "normal" }),
        advance: async (ms) => void (now += ms),
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
