/**
 * What a settle owes, and a process that dies between writing it down and doing it: whoever comes next
 * does it, once.
 */
import assert from "node:assert/strict";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  mongodbPlace,
  type MongodbDatabase,
} from "../../../test/servers/mongodb-place.ts";
import type { LeasedJob, Settlement, Store } from "../../core/store.ts";
import { entriesOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertOne, key, newJob } from "../../testing/conformance/new-job.ts";
import { ledgerEntry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { takeExactly, takeOne } from "../../testing/conformance/take.ts";
import type { DbLike, Document } from "./driver-like.ts";
import { mongodbStore } from "./index.ts";

const LONG_ENOUGH_MS = 60_000;

let database: MongodbDatabase;
let store: Store;
let now: number;

beforeAll(async () => void (database = await mongodbDatabase("mongodb-standalone")));
beforeEach(async () => {
  now = Date.UTC(2031, 0, 1);
  store = mongodbStore({ db: database.db, now: () => now });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await (await mongodbPlace(database)).dispose();
});
afterAll(() => database.drop());

class Died extends Error {}

/** A database whose client dies at the n-th insert into these collections. */
function dyingAt(most: number, names: readonly string[]): DbLike {
  const { db } = database;
  let inserts = 0;
  const isMeant = (name: unknown): boolean => names.some((one) => name === `holdfast_${one}`);
  const insertOrDie = async <T>(insert: () => Promise<T>): Promise<T> => {
    if (++inserts >= most) throw new Died("kill -9");
    return insert();
  };
  return {
    databaseName: db.databaseName,
    createCollection: (name, options) => db.createCollection(name, options),
    command(command, options) {
      const run = (): Promise<Document> => db.command(command, options);
      return isMeant(command["insert"]) ? insertOrDie(run) : run();
    },
    collection(name, options) {
      const collection = db.collection(name, options);
      if (!isMeant(name)) return collection as never;
      const insertMany = (documents: Document[], how?: Document): Promise<unknown> =>
        insertOrDie(() => collection.insertMany(documents, how));
      return new Proxy(collection, {
        get: (target, key) => {
          const value: unknown = key === "insertMany" ? insertMany : Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }) as never;
    },
  };
}

async function settleAndDie(most: number, ended: Settlement): Promise<void> {
  const dying = mongodbStore({ db: dyingAt(most, ["jobs", "ledger"]), now: () => now });
  await dying.open();
  await expect(dying.settle([ended])).rejects.toThrow(Died);
  await dying.close();
}

/** With a key, so that it has a document of its own. */
async function leasedParent(): Promise<LeasedJob> {
  await insertOne(store, { group: "parent", dedupe: key("parent", "kept") });
  return takeOne(store);
}

describe("what a settle owes", () => {
  for (const [when, most] of [
    ["before the spawned jobs", 1],
    ["between the spawned jobs and the entries", 2],
  ] as const) {
    it(`is done by a chore if its process dies ${when}`, async () => {
      const leased = await leasedParent();
      const spawn = [newJob(), newJob()];
      await settleAndDie(most, settlement(leased, succeed(), { spawn, entries: [ledgerEntry()] }));
      expect((await jobOf(store, leased)).status).toBe("succeeded");
      now += LONG_ENOUGH_MS;
      await store.reap({ limit: 10 });
      expect((await takeExactly(store, 2)).map(({ id }) => id)).toEqual(spawn.map(({ id }) => id));
      expect(await entriesOf(store)).toHaveLength(1);
      expect((await jobOf(store, leased)).logs).toEqual([]);
    });

    it(`is done by the repeated settle if its process dies ${when}`, async () => {
      const leased = await leasedParent();
      const spawn = [newJob()];
      const ended = settlement(leased, succeed(), { spawn, entries: [ledgerEntry()] });
      await settleAndDie(most, ended);
      expect(await store.settle([ended])).toEqual(["settled"]);
      assert.equal((await takeOne(store)).id, spawn[0]?.id);
      expect(await entriesOf(store)).toHaveLength(1);
      expect((await jobOf(store, leased)).logs).toEqual([]);
    });
  }

  it("outlives the job that is not kept", async () => {
    const leased = await leasedParent();
    const spawn = [newJob()];
    await settleAndDie(1, settlement(leased, succeed(), { spawn, discard: true }));
    expect(await store.get([{ id: leased.id }])).toEqual(["pruned"]);
    now += LONG_ENOUGH_MS;
    await store.reap({ limit: 10 });
    assert.equal((await takeOne(store)).id, spawn[0]?.id);
  });
});
