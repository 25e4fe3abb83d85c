import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { LeaseReply, Store } from "../../core/store.ts";
import { idsOf, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";

let folder: string;
let file: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-wakeup-"));
  file = join(folder, "jobs.db");
  store = sqliteStore({ file });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

describe("wakeups", () => {
  it("come early enough for a lease to share the commit of the insert", async () => {
    // Nobody else can commit between the two, so what the lease finds was stored with it.
    const peer = new DatabaseSync(file);
    const version = peer.prepare("PRAGMA data_version");
    const versions = new Set<unknown>([version.get()?.["data_version"]]);
    const leased = new Promise<LeaseReply>((resolve) => {
      const stop = store.onWakeup(({ queues }) => {
        stop();
        assert.deepEqual(queues, [QUEUE]);
        resolve(store.lease(leaseRequest(1)));
      });
    });
    const job = newJob();
    await store.insert([job]);
    versions.add(version.get()?.["data_version"]);
    const { jobs } = await leased;
    versions.add(version.get()?.["data_version"]);
    peer.close();
    assert.deepEqual(idsOf(jobs), [job.id]);
    assert.equal(versions.size, 2, "one commit");
  });

  it("come also from a writer that tells nobody: the file is looked at", async () => {
    const woken = new Promise<readonly string[]>((resolve) => {
      store.onWakeup(({ queues }) => resolve(queues));
    });
    // A caller's own transaction, in a process that does not have this store.
    const silent = new DatabaseSync(file);
    const borrowing = sqliteStore({ database: silent });
    await borrowing.open();
    silent.exec("BEGIN IMMEDIATE");
    await borrowing.within?.(silent).insert([newJob()]);
    await borrowing.close();
    silent.exec("COMMIT");
    silent.close();
    assert.deepEqual(await woken, [QUEUE]);
  });

  it("are forgotten when the store is closed", async () => {
    let heard = 0;
    store.onWakeup(() => void heard++);
    const insert = store.insert([newJob({ delayMs: 60_000 })]);
    await store.close();
    await insert;
    await store.open();
    await store.insert([newJob()]);
    assert.equal(heard, 0);
  });
});
