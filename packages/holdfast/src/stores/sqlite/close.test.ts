/** What closing a store waits for while somebody else has the database, and what it does not wait for. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import { ClosedError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { insertSome, newJob } from "../../testing/conformance/new-job.ts";
import { ledgerEntry, settle, succeed } from "../../testing/conformance/settling.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";

/** Longer than any test: whoever waits for it fails by the time limit of the test. */
const NEVER_MS = 3_600_000;

let folder: string;
let file: string;
let now: number;
let store: Store;
/** Somebody with the lock that a VACUUM takes. */
let other: DatabaseSync;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-close-"));
  file = join(folder, "jobs.db");
  now = Date.UTC(2031, 0, 1);
  store = sqliteStore({ file, busyDeadlineMs: NEVER_MS, now: () => now });
  other = new DatabaseSync(file);
});
afterEach(async () => {
  other.close();
  await store.close();
  await rm(folder, { recursive: true });
});

describe("closing a store on a locked database", () => {
  it("gives up upkeep, which did nothing", async () => {
    await store.open();
    await insertSome(store, 2);
    const [first] = await takeExactly(store, 2, { leaseMs: 10 });
    assert.ok(first);
    await settle(store, first, succeed());
    await store.ledger.append([ledgerEntry()]);
    now += 1_000;
    other.exec("BEGIN IMMEDIATE");
    const policy = { queue: null, status: "succeeded", olderThanMs: 0, keep: null } as const;
    const upkeep = Promise.all([
      store.reap({ limit: 10 }),
      store.prune([policy], 10),
      store.ledger.trim({ kind: ledgerEntry().kind, olderThanMs: 0, keep: null, limit: 10 }),
    ]);
    await store.close();
    assert.deepEqual(await upkeep, [[], 0, 0]);
    other.exec("ROLLBACK");
    await store.open();
    assert.equal((await store.reap({ limit: 10 })).length, 1);
    assert.equal(await store.prune([policy], 10), 1);
  });

  it("waits for what a caller waits for", async () => {
    await store.open();
    other.exec("BEGIN IMMEDIATE");
    const inserting = store.insert([newJob()]);
    const pruning = store.prune([], 10);
    const closing = store.close();
    assert.equal(await pruning, 0);
    other.exec("ROLLBACK");
    assert.equal((await inserting)[0]?.outcome, "added");
    await closing;
  });

  it("gives up opening it", async () => {
    other.exec("BEGIN EXCLUSIVE");
    const opening = assert.rejects(store.open(), ClosedError);
    await store.close();
    await opening;
    other.exec("ROLLBACK");
    await store.open();
    await store.insert([newJob()]);
  });
});
