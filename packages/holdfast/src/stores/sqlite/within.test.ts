/** What the conformance suite cannot see of a caller's own transaction. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { ClosedError, NotInTransactionError, StoreUnavailableError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { Store, WithinTransaction } from "../../core/store.ts";
import { key, newJob } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import type { DatabaseLike } from "./database-like.ts";
import { sqliteStore } from "./index.ts";

let folder: string;
let store: Store;
let tx: DatabaseSync;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-within-"));
  const file = join(folder, "jobs.db");
  store = sqliteStore({ file });
  await store.open();
  tx = new DatabaseSync(file);
  tx.exec("CREATE TABLE invoice (id INTEGER PRIMARY KEY)");
});
afterEach(async () => {
  tx.close();
  await store.close();
  await rm(folder, { recursive: true });
});

function inside(database: unknown = tx): WithinTransaction {
  const within = store.within?.(database);
  assert.ok(within);
  return within;
}

function invoices(): number {
  return Number(Object.values(tx.prepare("SELECT count(*) FROM invoice").get() ?? {})[0]);
}

describe("a caller's own SQLite transaction", () => {
  it("carries the caller's data and the job together", async () => {
    tx.exec("BEGIN IMMEDIATE; INSERT INTO invoice VALUES (1)");
    const job = newJob();
    await inside().insert([job]);
    tx.exec("ROLLBACK");
    assert.deepEqual([invoices(), await store.get([job])], [0, [null]]);
    tx.exec("BEGIN IMMEDIATE; INSERT INTO invoice VALUES (1)");
    await inside().insert([job]);
    tx.exec("COMMIT");
    assert.equal(invoices(), 1);
    assert.notDeepEqual(await store.get([job]), [null]);
  });

  it("wakes those who listen once it has committed", async () => {
    const woken = new Promise<readonly string[]>((resolve) => {
      store.onWakeup(({ queues }) => resolve(queues));
    });
    tx.exec("BEGIN IMMEDIATE");
    await inside().insert([newJob()]);
    tx.exec("COMMIT");
    assert.deepEqual(await woken, ["mail"]);
  });

  it("that is open for a minute is still seen to end, and what finished in it is told", async () => {
    const job = newJob();
    await store.insert([job]);
    const [leased] = (await store.lease(leaseRequest(1))).jobs;
    assert.ok(leased);
    const finished: string[] = [];
    store.onWakeup((wakeup) => void finished.push(...wakeup.finished));
    vi.useFakeTimers({ toFake: ["setTimeout", "setImmediate", "performance"] });
    try {
      tx.exec("BEGIN IMMEDIATE");
      const open = inside();
      await open.settle([settlement(leased, succeed())]);
      await vi.advanceTimersByTimeAsync(60_000);
      assert.deepEqual([open.isOpen(), finished], [true, []]);
      tx.exec("COMMIT");
      await vi.advanceTimersByTimeAsync(1_000);
      assert.deepEqual([open.isOpen(), finished], [false, [job.id]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is not waited for by those who look, and looking is all that a duplicate needs", async () => {
    const job = newJob({ dedupe: key("k") });
    await store.insert([job]);
    const { jobs } = await store.lease(leaseRequest(1));
    await store.settle(jobs.map((one) => settlement(one, succeed('{"sent":true}'))));
    // Whatever would wait for the caller's transaction fails at once.
    const impatient = sqliteStore({ file: join(folder, "jobs.db"), busyDeadlineMs: 0 });
    await impatient.open();
    tx.exec("BEGIN IMMEDIATE; INSERT INTO invoice VALUES (1)");
    const [result] = (await impatient.within?.(tx).insert([newJob({ dedupe: key("k") })])) ?? [];
    assert.equal(result?.outcome, "duplicate");
    const [found] = await impatient.get([job]);
    assert.ok(found !== null && found !== undefined && found !== "pruned");
    assert.equal(found.result, '{"sent":true}');
    assert.equal((await impatient.find({}, { limit: 1 })).jobs.length, 1);
    assert.equal((await impatient.count()).length, 1);
    tx.exec("COMMIT");
    await impatient.close();
  });

  it("is not spoilt by a call that fails", async () => {
    tx.exec("BEGIN IMMEDIATE; INSERT INTO invoice VALUES (1)");
    const [good, bad] = [newJob(), { ...newJob(), payload: null } as unknown as NewJob];
    await assert.rejects(inside().insert([good, bad]));
    assert.ok(inside().isOpen());
    tx.exec("COMMIT");
    assert.equal(invoices(), 1);
    assert.deepEqual(await store.get([good]), [null]);
  });

  it("may be a savepoint", async () => {
    tx.exec("SAVEPOINT outer_one");
    const job = newJob();
    await inside().insert([job]);
    tx.exec("RELEASE outer_one");
    assert.notDeepEqual(await store.get([job]), [null]);
  });

  it("that began by reading fails at once if somebody wrote meanwhile, and says so", async () => {
    tx.exec("BEGIN");
    invoices();
    await store.insert([newJob()]);
    await assert.rejects(inside().insert([newJob()]), (error) => {
      assert.ok(error instanceof StoreUnavailableError);
      assert.equal(error.mayHaveHappened, false);
      return true;
    });
    tx.exec("ROLLBACK");
  });

  it("of another database is refused", async () => {
    for (const place of [":memory:", join(folder, "other.db")]) {
      const other = new DatabaseSync(place);
      other.exec("BEGIN IMMEDIATE");
      assert.throws(() => inside(other), NotInTransactionError);
      other.close();
    }
  });

  it("is known by another path to the same file", async () => {
    const other = new DatabaseSync(
      join(folder, ".", "..", folder.split("/").at(-1) ?? "", "jobs.db"),
    );
    other.exec("BEGIN IMMEDIATE");
    await inside(other).insert([newJob()]);
    other.exec("COMMIT");
    other.close();
    assert.equal((await store.count())[0]?.ready, 1);
  });

  it("may be the store's own connection", async () => {
    const borrowing = sqliteStore({ database: tx });
    await borrowing.open();
    tx.exec("BEGIN IMMEDIATE");
    const job = newJob();
    await borrowing.within?.(tx).insert([job]);
    tx.exec("COMMIT");
    await borrowing.insert([newJob()]);
    assert.equal((await borrowing.count())[0]?.ready, 2);
    await borrowing.close();
  });

  it("may be a driver that only looks like one, as better-sqlite3 does", async () => {
    const driver: DatabaseLike = {
      prepare: (sql) => {
        const statement = tx.prepare(sql);
        return {
          run: (...values) => statement.run(...values),
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
          raw: () => statement.setReturnArrays(true),
        };
      },
      exec: (sql) => tx.exec(sql),
      close: () => {},
      get inTransaction() {
        return tx.isTransaction;
      },
    };
    assert.throws(() => inside(driver), NotInTransactionError);
    tx.exec("BEGIN IMMEDIATE");
    await inside(driver).insert([newJob()]);
    tx.exec("COMMIT");
    assert.equal((await store.count())[0]?.ready, 1);
  });

  it("may be a driver that says nothing of transactions and answers objects, as an older Node does", async () => {
    const driver: DatabaseLike = {
      prepare: (sql) => {
        const statement = tx.prepare(sql);
        return {
          run: (...values) => statement.run(...values),
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
        };
      },
      exec: (sql) => tx.exec(sql),
      close: () => {},
    };
    assert.throws(() => inside(driver), NotInTransactionError);
    assert.equal(tx.isTransaction, false);
    tx.exec("BEGIN IMMEDIATE");
    await inside(driver).insert([newJob()]);
    tx.exec("COMMIT");
    assert.equal((await store.count())[0]?.ready, 1);
  });

  it("has ended once it was closed with its connection", async () => {
    const other = new DatabaseSync(join(folder, "jobs.db"));
    other.exec("BEGIN IMMEDIATE");
    const within = inside(other);
    await within.insert([newJob()]);
    other.close();
    assert.equal(within.isOpen(), false);
  });

  for (const end of ["COMMIT", "ROLLBACK"]) {
    it(`has ended for ever after ${end}, also if another was begun before anybody looked`, async () => {
      for (const jobs of [[], [newJob()]]) {
        tx.exec("BEGIN IMMEDIATE");
        const within = inside();
        await within.insert(jobs);
        tx.exec(`${end}; BEGIN IMMEDIATE`);
        const next = inside();
        await next.insert([newJob()]);
        assert.deepEqual([within.isOpen(), next.isOpen()], [false, true]);
        await assert.rejects(within.insert([newJob()]), NotInTransactionError);
        tx.exec("ROLLBACK");
        assert.deepEqual([within.isOpen(), next.isOpen()], [false, false]);
      }
    });
  }

  it("has ended for ever on the store's own connection once the store has written", async () => {
    const borrowing = sqliteStore({ database: tx });
    await borrowing.open();
    tx.exec("BEGIN IMMEDIATE");
    const within = borrowing.within?.(tx);
    assert.equal(within?.isOpen(), true);
    tx.exec("COMMIT");
    await borrowing.insert([newJob()]);
    tx.exec("BEGIN IMMEDIATE");
    assert.equal(within?.isOpen(), false);
    tx.exec("ROLLBACK");
    await borrowing.close();
  });

  it("stays open whatever happens in savepoints inside of it", async () => {
    tx.exec("BEGIN IMMEDIATE");
    const within = inside();
    tx.exec("SAVEPOINT inner");
    await inside().insert([newJob()]);
    tx.exec("ROLLBACK TO inner; RELEASE inner");
    assert.equal(within.isOpen(), true);
    await within.insert([newJob()]);
    tx.exec("COMMIT");
    assert.equal((await store.count())[0]?.ready, 1);
  });

  it("stays open while somebody else has the write lock, and is told to wait", async () => {
    const other = new DatabaseSync(join(folder, "jobs.db"));
    other.exec("BEGIN IMMEDIATE");
    tx.exec("BEGIN");
    const within = inside();
    await assert.rejects(within.insert([newJob()]), StoreUnavailableError);
    assert.equal(within.isOpen(), true);
    other.exec("ROLLBACK");
    other.close();
    await within.insert([newJob()]);
    tx.exec("COMMIT; BEGIN IMMEDIATE");
    assert.equal(within.isOpen(), false);
    tx.exec("ROLLBACK");
  });

  it("needs an open store", async () => {
    tx.exec("BEGIN IMMEDIATE");
    const within = inside();
    tx.exec("ROLLBACK");
    await store.close();
    tx.exec("BEGIN IMMEDIATE");
    await assert.rejects(within.insert([newJob()]), ClosedError);
    assert.throws(() => inside(), ClosedError);
    tx.exec("ROLLBACK");
  });
});
