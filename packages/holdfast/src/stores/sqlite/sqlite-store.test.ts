import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "vitest";
import { StoreUnavailableError } from "../../core/errors.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import type { DatabaseLike, StatementLike } from "./database-like.ts";
import { sqliteStore } from "./index.ts";

/** A database on a disk that can be made to fail. */
function failing(database: DatabaseSync): DatabaseLike & { isBroken: boolean } {
  const disk = {
    isBroken: false,
    exec: (sql: string) => database.exec(sql),
    close: () => database.close(),
    prepare(sql: string): StatementLike {
      const statement = database.prepare(sql);
      const work = <T>(how: () => T): T => {
        if (!disk.isBroken) return how();
        throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
      };
      return {
        run: (...values) => work(() => statement.run(...(values as never[]))),
        get: (...values) => work(() => statement.get(...(values as never[]))),
        all: (...values) => work(() => statement.all(...(values as never[]))),
      };
    },
  };
  return disk;
}

describe("a disk that fails", () => {
  it("is a store that is away, whatever is asked of it", async () => {
    const database = new DatabaseSync(":memory:");
    const disk = failing(database);
    const store = sqliteStore({ database: disk });
    await store.open();
    disk.isBroken = true;
    const calls = {
      lease: () => store.lease(leaseRequest(1)),
      reap: () => store.reap({ limit: 1 }),
      prune: () => store.prune([], 1),
      lines: () => store.lines("mail", { limit: 1 }),
      count: () => store.count(),
      find: () => store.find({}, { limit: 1 }),
    };
    for (const [verb, call] of Object.entries(calls)) {
      await assert.rejects(call, StoreUnavailableError, verb);
    }
    disk.isBroken = false;
    assert.deepEqual((await store.lease(leaseRequest(1))).jobs, []);
    await store.close();
    database.close();
  });
});
