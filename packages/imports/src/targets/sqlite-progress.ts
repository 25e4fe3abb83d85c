/** How far an import has come, beside its rows: two small tables in the same file. */
import { ImportOvertakenError } from "../errors.ts";
import type { DatabaseLike } from "./sqlite-driver.ts";
import {
  KEEP_FINISHED_DAYS,
  KEEP_UNFINISHED_DAYS,
  type Batch,
  type BatchAnswer,
  type Beginning,
  type Ending,
  type ImportState,
  type RowError,
} from "./target.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS holdfast_import (
    job TEXT PRIMARY KEY, type TEXT NOT NULL, file TEXT NOT NULL, fence INTEGER NOT NULL,
    up_to INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0,
    inserted INTEGER NOT NULL DEFAULT 0, updated INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0, started_at INTEGER NOT NULL, finished_at INTEGER,
    notes TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS holdfast_import_error (
    job TEXT NOT NULL, row INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (job, row)
  ) WITHOUT ROWID;`;
const DAY_MS = 86_400_000;

interface Stored {
  readonly file: string;
  readonly up_to: number;
  readonly total: number;
  readonly inserted: number;
  readonly updated: number;
  readonly failed: number;
  readonly finished_at: number | null;
  readonly notes: string | null;
}

/** Each verb runs inside the caller's transaction. */
export function sqliteProgress(db: DatabaseLike) {
  return {
    begin({ job, fence, type, file }: Beginning): ImportState {
      db.exec(TABLES);
      forgetOld(db);
      const stored = db
        .prepare(
          `INSERT INTO holdfast_import (job, type, file, fence, started_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (job) DO UPDATE SET fence = excluded.fence WHERE fence <= excluded.fence
           RETURNING file, up_to, total, inserted, updated, failed, finished_at, notes`,
        )
        .get(job, type, file, fence, Date.now()) as Stored | undefined;
      if (!stored) throw new ImportOvertakenError("a newer attempt goes on with this import");
      return stateOf(stored);
    },

    /** False: another attempt has this import. */
    advance({ job, fence, after, upTo, totalRows, keep }: Batch, answer: BatchAnswer): boolean {
      const { inserted, updated, failures } = answer;
      const { changes } = db
        .prepare(
          `UPDATE holdfast_import SET up_to = ?, total = total + ?, inserted = inserted + ?,
             updated = updated + ?, failed = failed + ?
           WHERE job = ? AND fence = ? AND up_to = ? AND finished_at IS NULL`,
        )
        .run(...[upTo, totalRows, inserted, updated, failures.length, job, fence, after]);
      if (Number(changes) !== 1) return false;
      const add = db.prepare(
        "INSERT OR REPLACE INTO holdfast_import_error (job, row, reason) VALUES (?, ?, ?)",
      );
      for (const { row, reason } of failures.slice(0, keep)) add.run(job, row, reason);
      return true;
    },

    finish({ job, fence, after, notes }: Ending): boolean {
      const { changes } = db
        .prepare(
          `UPDATE holdfast_import SET finished_at = ?, notes = ?
           WHERE job = ? AND fence = ? AND up_to = ?`,
        )
        .run(Date.now(), notes, job, fence, after);
      return Number(changes) === 1;
    },

    failures(job: string, limit: number): readonly RowError[] {
      const isThere = db
        .prepare("SELECT 1 FROM sqlite_master WHERE name = 'holdfast_import_error'")
        .get();
      if (isThere == null) return [];
      const found = db
        .prepare("SELECT row, reason FROM holdfast_import_error WHERE job = ? ORDER BY row LIMIT ?")
        .all(job, limit) as { row: number; reason: string }[];
      return found.map(({ row, reason }) => ({ row, reason }));
    },
  };
}

function forgetOld(db: DatabaseLike): void {
  const now = Date.now();
  const old = db
    .prepare("SELECT job FROM holdfast_import WHERE finished_at < ? OR started_at < ? LIMIT 100")
    .all(now - KEEP_FINISHED_DAYS * DAY_MS, now - KEEP_UNFINISHED_DAYS * DAY_MS);
  for (const { job } of old as { job: string }[]) {
    db.prepare("DELETE FROM holdfast_import_error WHERE job = ?").run(job);
    db.prepare("DELETE FROM holdfast_import WHERE job = ?").run(job);
  }
}

function stateOf(stored: Stored): ImportState {
  const { file, up_to, total, inserted, updated, failed, finished_at, notes } = stored;
  return {
    ...{ file, upTo: up_to, totalRows: total, inserted, updated, failed },
    ...{ isFinished: finished_at !== null, notes },
  };
}
