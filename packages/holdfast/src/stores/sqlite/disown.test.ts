/** What the conformance suite cannot see of disowning: what is kept of it in the file. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Store } from "../../core/store.ts";
import { insertOne, QUEUE } from "../../testing/conformance/new-job.ts";
import { takeOne } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";
import { TABLES } from "./schema.ts";

const HOUR_MS = 3_600_000;
const LOST = "worker-1";

let folder: string;
let file: string;
let now: number;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-disown-"));
  file = join(folder, "jobs.db");
  now = Date.UTC(2031, 0, 1);
  store = sqliteStore({ file, now: () => now });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

function remembered(): number {
  const database = new DatabaseSync(file);
  const { n } = database.prepare("SELECT count(*) AS n FROM holdfast_disowned").get() ?? {};
  database.close();
  return Number(n);
}

async function disownAll(): Promise<void> {
  await store.disown({ worker: LOST, queues: [QUEUE], except: [] });
}

async function reapAfter(ms: number): Promise<boolean | undefined> {
  await takeOne(store, { worker: LOST, leaseMs: ms });
  now += ms;
  return (await store.reap({ limit: 1 }))[0]?.charged;
}

describe("a disowned worker id", () => {
  it("is remembered once, however often it is said", async () => {
    await store.open();
    for (let times = 0; times < 3; times++) await disownAll();
    assert.equal(remembered(), 1);
  });

  it("is forgotten after an hour, swept or not", async () => {
    await store.open();
    await disownAll();
    await insertOne(store);
    assert.equal(await reapAfter(HOUR_MS - 1), false);
    assert.equal(await reapAfter(1), true);
    assert.equal(remembered(), 1);
    await store.prune([], 10);
    assert.equal(remembered(), 0);
  });

  it("can be remembered by a file that was made before there was a place for it", async () => {
    const old = new DatabaseSync(file);
    old.exec(`${TABLES};
      CREATE TABLE holdfast_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO holdfast_meta VALUES ('schema', '1')`);
    old.close();
    await store.open();
    await insertOne(store);
    assert.equal(await reapAfter(10), true);
    assert.equal(await reapAfter(10), false, "it has crashed before, and nobody said it started");
    await disownAll();
    assert.equal(remembered(), 1);
  });
});
