import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, it } from "vitest";
import { ClosedError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { newJob, newJobs } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { Clock } from "./clock.ts";
import { Committer } from "./committer.ts";
import { Connection } from "./connection.ts";
import { sqliteStore } from "./index.ts";
import { openDatabase } from "./open-database.ts";
import type { Transaction } from "./transaction.ts";

let folder: string;
let file: string;
const opened: Store[] = [];
const databases: DatabaseSync[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-committer-"));
  file = join(folder, "jobs.db");
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const database of databases.splice(0)) database.close();
  await rm(folder, { recursive: true });
});

async function openStore(options: { busyDeadlineMs?: number } = {}): Promise<Store> {
  return keepOpen(sqliteStore({ file, ...options }));
}

async function keepOpen(store: Store): Promise<Store> {
  await store.open();
  opened.push(store);
  return store;
}

function openPeer(): DatabaseSync {
  const database = new DatabaseSync(file);
  databases.push(database);
  return database;
}

/** A committer on a database of its own, and how often it has committed. */
async function openCommitter(): Promise<{ committer: Committer; commits: () => number }> {
  const database = openPeer();
  const settings = { clock: new Clock(Date.now), remembersMs: 1_000 };
  const place = { database };
  await openDatabase({ ...settings, place, synchronous: "normal", busyDeadlineMs: 1_000 });
  let commits = 0;
  const committer = new Committer({
    ...settings,
    connection: new Connection(database, { isBorrowed: false }),
    busyDeadlineMs: 1_000,
    onCommit: () => void commits++,
    onBusy: () => {},
  });
  return { committer, commits: () => commits };
}

const ADD = "INSERT INTO holdfast_meta (key, value) VALUES (?, 'x')";
const COUNT = "SELECT count(*) FROM holdfast_meta WHERE value = 'x'";

function adding(key: string): (tx: Transaction) => string {
  return (tx) => {
    tx.db.run(ADD, key);
    return key;
  };
}

describe("the committer", () => {
  it("commits what is submitted close together in one transaction", async () => {
    const { committer, commits } = await openCommitter();
    const answers = await Promise.all(
      ["a", "b", "c"].map((key) => committer.submit(1, adding(key))),
    );
    assert.deepEqual([answers, commits()], [["a", "b", "c"], 1]);
  });

  it("answers only after the commit", async () => {
    const { committer } = await openCommitter();
    const peer = openPeer();
    const count = (): unknown => Object.values(peer.prepare(COUNT).get() ?? {})[0];
    const answer = committer.submit(1, adding("a"));
    assert.equal(count(), 0);
    await answer;
    assert.equal(count(), 1);
  });

  it("splits a crowd into several transactions", async () => {
    const { committer, commits } = await openCommitter();
    const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => committer.submit(300, adding(key))));
    assert.equal(commits(), 5);
  });

  it("lets only the guilty one fail", async () => {
    const { committer } = await openCommitter();
    const bad = (): never => {
      throw new RangeError("guilty");
    };
    const results = await Promise.allSettled([
      committer.submit(1, adding("a")),
      committer.submit(1, bad),
      committer.submit(1, adding("a")),
      committer.submit(1, adding("b")),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected", "fulfilled"],
    );
    assert.equal(await committer.submit(1, (tx) => tx.db.value(COUNT)), 2);
  });

  it("commits those beside a guilty one together, not one by one", async () => {
    const { committer, commits } = await openCommitter();
    const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
    const bad = (): never => {
      throw new RangeError("guilty");
    };
    const calls = keys.map((key, index) => committer.submit(1, index === 17 ? bad : adding(key)));
    const results = await Promise.allSettled(calls);
    const failed = results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []));
    assert.deepEqual([failed, commits()], [[17], 2]);
    assert.equal(await committer.submit(1, (tx) => tx.db.value(COUNT)), 39);
  });

  it("rolls back everything of one that fails half way", async () => {
    const { committer } = await openCommitter();
    const half = committer.submit(1, (tx) => {
      tx.db.run(ADD, "a");
      tx.queues.findOrAdd("mail").add("ready", 7);
      throw new RangeError("half way");
    });
    await assert.rejects(half, RangeError);
    assert.equal(await committer.submit(1, (tx) => tx.db.value(COUNT)), 0);
    assert.equal(await committer.submit(1, (tx) => tx.queues.find("mail")), null);
  });

  it("finishes what was submitted before it closes, and takes no more", async () => {
    const { committer } = await openCommitter();
    const answer = committer.submit(1, adding("a"));
    await committer.close();
    assert.equal(await answer, "a");
    await assert.rejects(committer.submit(1, adding("b")), ClosedError);
  });
});

describe("a busy database", () => {
  it("is waited for without an error and without stopping the event loop", async () => {
    const store = await openStore();
    const peer = openPeer();
    peer.exec("BEGIN IMMEDIATE");
    let isStored = false;
    const insert = store.insert([newJob()]).then(() => (isStored = true));
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    assert.equal(isStored, false);
    peer.exec("COMMIT");
    await insert;
    assert.equal((await store.count())[0]?.ready, 1);
  });

  it("can be read while somebody else writes", async () => {
    const store = await openStore();
    await store.insert([newJob()]);
    const peer = openPeer();
    peer.exec("BEGIN IMMEDIATE");
    assert.equal((await store.count())[0]?.ready, 1);
    peer.exec("ROLLBACK");
  });

  it("becomes an error after the deadline, and nothing has happened", async () => {
    const store = await openStore({ busyDeadlineMs: 30 });
    const peer = openPeer();
    peer.exec("BEGIN IMMEDIATE");
    const job = newJob();
    await assert.rejects(store.insert([job]), (error) => {
      assert.ok(error instanceof StoreUnavailableError);
      assert.equal(error.mayHaveHappened, false);
      return true;
    });
    peer.exec("ROLLBACK");
    assert.deepEqual(await store.get([job]), [null]);
    assert.equal((await store.insert([job]))[0]?.outcome, "added");
  });

  it("an idle lease does not even ask for the write lock", async () => {
    const store = await openStore({ busyDeadlineMs: 30 });
    await store.insert([newJob({ delayMs: 60_000 })]);
    const peer = openPeer();
    peer.exec("BEGIN IMMEDIATE");
    assert.deepEqual((await store.lease(leaseRequest(5))).jobs, []);
    assert.deepEqual(await store.reap({ limit: 5 }), []);
    assert.equal(await store.prune([], 5), 0);
    peer.exec("ROLLBACK");
  });

  it("is not even asked for nothing", async () => {
    const store = await openStore({ busyDeadlineMs: 30 });
    const peer = openPeer();
    peer.exec("BEGIN IMMEDIATE");
    assert.deepEqual(await store.insert([]), []);
    assert.deepEqual(await store.settle([]), []);
    assert.deepEqual(await store.renew([], 1_000), []);
    assert.deepEqual(await store.records.swap([]), []);
    await store.hold([]);
    peer.exec("ROLLBACK");
  });

  it("outside WAL mode makes even those who look wait, and no longer than it must", async () => {
    const store = await keepOpen(sqliteStore({ database: openPeer() }));
    await store.insert([newJob()]);
    const peer = openPeer();
    peer.exec("BEGIN EXCLUSIVE");
    let counts: unknown;
    const count = store.count().then((answer) => (counts = answer));
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    assert.equal(counts, undefined);
    peer.exec("ROLLBACK");
    await count;
    assert.equal((await store.count())[0]?.ready, 1);
  });

  it("sees what others have written since its last transaction", async () => {
    const [one, two] = [await openStore(), await openStore()];
    for (let round = 0; round < 5; round++) {
      await one.insert(newJobs(2, { group: `g${round}` }));
      await two.insert(newJobs(2, { group: `g${round}` }));
    }
    assert.equal((await one.lease(leaseRequest(50))).jobs.length, 20);
    assert.equal((await two.count())[0]?.processing, 20);
  });
});

describe("a caller's transaction on the store's own connection", () => {
  it("makes the store's writes wait instead of taking them in", async () => {
    const database = openPeer();
    const store = await keepOpen(sqliteStore({ database }));
    database.exec("CREATE TABLE app (name TEXT); BEGIN; INSERT INTO app VALUES ('mine')");
    let isStored = false;
    const insert = store.insert([newJob()]).then(() => (isStored = true));
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    assert.equal(isStored, false);
    database.exec("ROLLBACK");
    await insert;
    assert.equal((await store.count())[0]?.ready, 1);
    assert.equal(Object.values(database.prepare("SELECT count(*) FROM app").get() ?? {})[0], 0);
  });
});

describe("a full disk", () => {
  it("is a typed error, earlier jobs are kept, and room makes it work again", async () => {
    const database = openPeer();
    const store = await keepOpen(sqliteStore({ database }));
    const first = newJob();
    await store.insert([first]);
    const pages = Number(Object.values(database.prepare("PRAGMA page_count").get() ?? {})[0]);
    database.exec(`PRAGMA max_page_count = ${pages + 4}`);
    const large = newJobs(3, { payload: JSON.stringify("x".repeat(50_000)) });
    const [one, two, three] = await Promise.allSettled(large.map((job) => store.insert([job])));
    const failed = [one, two, three].filter((result) => result?.status === "rejected");
    assert.ok(failed.length > 0);
    for (const result of failed) assert.ok(result?.reason instanceof StoreFullError);
    assert.notEqual((await store.get([first]))[0], null);
    assert.equal(Object.values(database.prepare("PRAGMA integrity_check").get() ?? {})[0], "ok");
    database.exec("PRAGMA max_page_count = 100000");
    await store.insert(large);
    assert.equal((await store.count())[0]?.ready, 4);
  });
});
