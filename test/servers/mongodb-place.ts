/**
 * Places for jobs on the shared MongoDB servers: a database for each test file, emptied after each
 * test, so that files run in parallel and none waits for indexes to be built again and again.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { MongoClient, type ClientSession, type Db } from "mongodb";
import { ClosedError } from "../../packages/holdfast/src/core/errors.ts";
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import { mongodbStore } from "../../packages/holdfast/src/stores/mongodb/index.ts";
import { COLLECTIONS } from "../../packages/holdfast/src/stores/mongodb/schema.ts";
import { serverUrl } from "./server-desk.ts";

const PREFIX = "holdfast_";

export interface MongodbDatabase {
  readonly client: MongoClient;
  readonly db: Db;
  readonly hasTransactions: boolean;
  /** Checks what must always be so, then empties all collections. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

export async function mongodbDatabase(
  server: "mongodb" | "mongodb-standalone" = "mongodb",
): Promise<MongodbDatabase> {
  const client = new MongoClient(await serverUrl(server));
  const db = client.db(`test_${randomBytes(6).toString("hex")}`);
  return {
    client,
    db,
    hasTransactions: server === "mongodb",
    async clear() {
      await checkPlaces(db);
      // The version of the schema stays, or the next store would build its indexes again.
      const all = { _id: { $ne: "store" as never } };
      await Promise.all(COLLECTIONS.map((name) => db.collection(PREFIX + name).deleteMany(all)));
    },
    async drop() {
      await db.dropDatabase();
      await client.close();
    },
  };
}

/** Every job stands in exactly one place, nothing is left to follow, and what is gone stands nowhere. */
async function checkPlaces(db: Db): Promise<void> {
  for await (const job of db.collection(PREFIX + "jobs").find()) {
    const places = ["ready", "due", "leased"].filter((place) => place in job);
    const wanted = expectedPlaces(String(job["status"]));
    assert.ok(wanted.includes(places.join()), `${job["status"]} stands in "${places.join()}"`);
    assert.equal("leaseUntil" in job, job["status"] === "processing", "only leases end");
    assert.equal("followUps" in job, false, "nothing is left to follow");
  }
  for await (const { ids } of db.collection(PREFIX + "fresh").find()) {
    const anywhere = { $or: [{ ids: { $in: ids } }, { _id: { $in: ids } }] };
    const there = await db.collection(PREFIX + "jobs").countDocuments(anywhere);
    assert.equal(there, 0, "a fresh job is nowhere else");
  }
}

function expectedPlaces(status: string): readonly string[] {
  if (status === "queued") return ["ready", "due"];
  return [status === "processing" ? "leased" : ""];
}

/** An empty place on such a database, for the conformance suite and the property test. */
export async function mongodbPlace(database: MongodbDatabase) {
  // Far from the host's own clock, so that whoever looks at that one is found out.
  let now = Date.UTC(2031, 0, 1);
  const sessions: ClientSession[] = [];
  const stores: Store[] = [];
  return {
    async open() {
      const store = mongodbStore({ db: database.db, now: () => now });
      stores.push(store);
      return store;
    },
    advance: async (ms: number) => void (now += ms),
    rewind: async (ms: number) => void (now -= ms),
    ...(database.hasTransactions ? { transaction } : {}),
    async dispose() {
      for (const session of sessions) await session.endSession();
      await database.clear();
    },
  };

  async function transaction() {
    const tx = database.client.startSession();
    sessions.push(tx);
    tx.startTransaction();
    return {
      tx,
      commit: () => tx.commitTransaction().then(lookRound),
      rollback: () => tx.abortTransaction(),
    };
  }

  /**
   * A job that was settled in a transaction is counted twice by other processes until its own has taken the
   * pack apart, some milliseconds later (ADR 0012). Whoever counts in that process waits for it.
   */
  async function lookRound(): Promise<void> {
    for (const store of stores) {
      await store.count().catch((error: unknown) => {
        if (!(error instanceof ClosedError)) throw error;
      });
    }
  }
}
