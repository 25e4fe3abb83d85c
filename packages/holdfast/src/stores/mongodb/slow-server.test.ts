/**
 * A server that answers reads and lets every write wait. To whoever only counts the time, all jobs look
 * as if an open transaction had them: then a renewal would be answered "kept" that has extended nothing.
 */
import { randomUUID } from "node:crypto";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startReplicaSet, type ReplicaSet } from "../../../../../test/servers/mongodb.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { jobOf } from "../../testing/conformance/looking.ts";
import { insertAll, key, newJob } from "../../testing/conformance/new-job.ts";
import { leaseRef } from "../../testing/conformance/settling.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { mongodbStore } from "./index.ts";

const NOBODY = { reason: null, by: null };

let server: ReplicaSet;
let client: MongoClient;
let store: Store;
let leased: LeasedJob[];

beforeAll(async () => {
  server = await startReplicaSet({ nodes: 1 });
  client = new MongoClient(server.url);
  store = mongodbStore({ url: server.url });
  await store.open();
});
afterAll(async () => {
  await store.close();
  await client.close();
  await server.stop();
});
beforeEach(async () => {
  // Jobs with keys have a document each.
  await insertAll(store, [
    newJob({ dedupe: key(randomUUID()) }),
    newJob({ dedupe: key(randomUUID()) }),
  ]);
  leased = await takeExactly(store, 2);
});

async function whileWritesWait(call: () => Promise<unknown>): Promise<void> {
  const admin = client.db("admin");
  await admin.command({ fsync: 1, lock: true });
  try {
    await expect(call()).rejects.toThrow(StoreUnavailableError);
  } finally {
    await admin.command({ fsyncUnlock: 1 });
  }
}

describe("a server on which every write waits", () => {
  it("has no job locked: a renewal fails, and can be made again", async () => {
    const before = await leaseEnds();
    await whileWritesWait(() => store.renew(leased.map(leaseRef), 10 * LONG_MS));
    expect(await leaseEnds()).toEqual(before);
    expect(await store.renew(leased.map(leaseRef), LONG_MS)).toEqual(["kept", "kept"]);
  });

  it("refuses no cancellation", async () => {
    const which = { ids: leased.map(({ id }) => ({ id })) };
    await whileWritesWait(() => store.cancel(which, NOBODY));
    const { changes } = await store.cancel(which, NOBODY);
    expect(changes.map(({ result }) => result)).toEqual(["asked", "asked"]);
  });
});

async function leaseEnds(): Promise<(number | null)[]> {
  return Promise.all(leased.map(async (job) => (await jobOf(store, job)).leaseUntil));
}
