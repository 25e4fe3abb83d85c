import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "vitest";
import { sqliteStore } from "../../stores/sqlite/index.ts";
import { storeConformance } from "./index.ts";

describe("the SQLite store", () => {
  storeConformance({
    describe,
    it,
    transactions: true,
    rewinds: true,
    async place() {
      const folder = await mkdtemp(join(tmpdir(), "holdfast-conformance-"));
      const file = join(folder, "jobs.db");
      const callers: DatabaseSync[] = [];
      // Far from the host's own clock, so that whoever looks at that one is found out.
      let now = Date.UTC(2031, 0, 1);
      return {
        open: async () => sqliteStore({ file, now: () => now }),
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
