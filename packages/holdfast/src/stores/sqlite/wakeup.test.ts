import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { LeaseReply, Store, Wakeup } from "../../core/store.ts";
import { idsOf, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { release, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeOne } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";
import { WakeSocket } from "./wake-socket.ts";

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

/** What is heard of a write by this store's own listener, and by a process on the same file. */
async function heardOf(write: () => Promise<unknown>): Promise<{ near: Wakeup; far: Wakeup }> {
  const far = signal<Wakeup>();
  const ping = signal<Wakeup>();
  const peer = new WakeSocket({ file, onWakeup: far.resolve, onPeerWaits: () => {} });
  const stop = store.onWakeup(ping.resolve);
  await peer.open();
  peer.setListening(true);
  while (!peer.hasListeningPeers) await new Promise((resolve) => setImmediate(resolve));
  // Lines arrive in order: once it is heard, the store knows that its peer listens.
  peer.send({ queues: ["ping"], finished: [] });
  await ping.promise;
  stop();
  const near = signal<Wakeup>();
  store.onWakeup(near.resolve);
  await write();
  const heard = { near: await near.promise, far: await far.promise };
  peer.close();
  return heard;
}

function signal<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

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

  it("tell another store how many jobs were inserted, and this one nothing of it", async () => {
    const { near, far } = await heardOf(() => store.insert([newJob(), newJob(), newJob()]));
    assert.deepEqual(near, { queues: [QUEUE], finished: [] });
    assert.equal(far.added, 3);
    assert.ok(far.lot !== undefined && far.lot >= 0 && far.lot < 1);
  });

  it("name no number of what became ready in any other way", async () => {
    await store.insert([newJob()]);
    const leased = await takeOne(store);
    const { far } = await heardOf(() => settle(store, leased, release()));
    assert.deepEqual(far, { queues: [QUEUE], finished: [] });
  });

  it("count what a caller's own transaction inserted", async () => {
    const tx = new DatabaseSync(file);
    const { far } = await heardOf(async () => {
      tx.exec("BEGIN IMMEDIATE");
      await store.within?.(tx).insert([newJob(), newJob()]);
      tx.exec("COMMIT");
    });
    tx.close();
    assert.equal(far.added, 2);
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
