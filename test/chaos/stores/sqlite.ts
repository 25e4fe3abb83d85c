/** One SQLite file for all processes. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { sqliteStore } from "../../../packages/holdfast/src/stores/sqlite/index.ts";
import { monotonicMs } from "../witness.ts";
import type { ChaosStore, StartedStore } from "../chaos-store.ts";

const WRITE_PATIENCE_MS = 150;

export const sqlite: ChaosStore = {
  start: async (folder) => startOn(join(folder, "chaos.db")),
  open: (url) => sqliteStore({ file: url }),
};

function startOn(file: string): StartedStore {
  let probe: DatabaseSync | null = null;
  return {
    url: file,
    // Only the holder of the write lock keeps others from this, and it lets go within milliseconds,
    // unless it was stopped while it had it.
    async canWrite() {
      probe ??= new DatabaseSync(file, { timeout: 0 });
      const until = monotonicMs() + WRITE_PATIENCE_MS;
      while (!takesLock(probe)) {
        if (monotonicMs() > until) return false;
        await pause(3);
      }
      return true;
    },
    async integrity() {
      const database = new DatabaseSync(file);
      try {
        const rows = database.prepare("PRAGMA integrity_check").all();
        const found = rows.map((row) => String(row.integrity_check));
        return found.filter((line) => line !== "ok");
      } finally {
        database.close();
      }
    },
    async stop() {
      probe?.close();
    },
  };
}

function takesLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch {
    return false;
  }
  database.exec("ROLLBACK");
  return true;
}
