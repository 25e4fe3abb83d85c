import { randomUUID } from "node:crypto";
import { ReadConcern } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import { intercepted } from "../../../../../test/servers/mongodb-world.ts";
import { serverUrl } from "../../../../../test/servers/server-desk.ts";
import { InvalidOptionError, StoreOpenError, StoreUnavailableError } from "../../core/errors.ts";
import { countsOf } from "../../testing/conformance/looking.ts";
import { insertSome, QUEUE } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import type { Document } from "./driver-like.ts";
import { mongodbStore } from "./index.ts";

let database: MongodbDatabase;
beforeAll(async () => void (database = await mongodbDatabase()));
afterAll(() => database.drop());

describe("opening", () => {
  it("refuses what is neither a URL nor a database", () => {
    for (const place of [{}, { url: "postgres://x" }, { url: 7 }, { db: {} }, { db: null }]) {
      expect(() => mongodbStore(place as never)).toThrow(InvalidOptionError);
    }
  });

  it("refuses options that make no sense", () => {
    const { db } = database;
    for (const options of [{ deadlineMs: 0 }, { remembersMs: -1 }, { prefix: "a.b$" }]) {
      expect(() => mongodbStore({ db, ...options })).toThrow(InvalidOptionError);
    }
  });

  it("may be tried again if nobody answers, and says what to check", async () => {
    const url = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200";
    const opening = mongodbStore({ url }).open();
    await expect(opening).rejects.toThrow(StoreUnavailableError);
    await expect(opening).rejects.toThrow(/check host and port/);
  });

  it("is refused for good if the URL cannot be right", async () => {
    const url = (await serverUrl("mongodb")).replace("mongodb://", "mongodb://nobody:wrong@");
    await expect(mongodbStore({ url }).open()).rejects.toThrow(StoreOpenError);
  });

  it("by several at once makes everything once", async () => {
    const stores = Array.from({ length: 5 }, () => mongodbStore({ db: database.db }));
    await Promise.all(stores.map((store) => store.open()));
    const [first, second] = stores;
    if (first === undefined || second === undefined) throw new Error("five stores");
    await insertSome(first, 3);
    expect((await countsOf(second)).ready).toBe(3);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("warns of a client that gives up a silent server too late, and is content with its own", async () => {
    const patient = mongodbStore({ db: database.db });
    await patient.open();
    expect(patient.info().warnings).toEqual([expect.stringContaining("connectTimeoutMS: 3000")]);
    await patient.close();
    const own = mongodbStore({ url: await serverUrl("mongodb") });
    await own.open();
    expect(own.info().warnings).toEqual([]);
    await own.close();
  });

  it("may be tried again if the connection breaks at its last step", async () => {
    const broken = Object.assign(new Error("connection closed"), { name: "MongoNetworkError" });
    const db = intercepted(database, async ({ collection }, run) => {
      if (collection === "wake") throw broken;
      return run();
    });
    await expect(mongodbStore({ db }).open()).rejects.toThrow(StoreUnavailableError);
  });

  it("through a client that reads what a majority has, from anywhere, sees its own writes at once", async () => {
    const { databaseName } = database.db;
    const db = database.client.db(databaseName, {
      readConcern: new ReadConcern("majority"),
      readPreference: "secondaryPreferred",
    });
    const store = mongodbStore({ db, prefix: "careful_" });
    await store.open();
    await store.limit([{ queue: QUEUE, group: null, maxActive: 1 }]);
    await insertSome(store, 20);
    for (let nth = 0; nth < 20; nth += 1) {
      const { jobs } = await store.lease(leaseRequest(1));
      expect(jobs, `lease ${nth}`).toHaveLength(1);
      expect(await store.settle(jobs.map((job) => settlement(job, succeed())))).toEqual([
        "settled",
      ]);
    }
    await store.close();
  });

  it("keeps stores of different prefixes apart", async () => {
    const [one, other] = ["one_", "other_"].map((prefix) =>
      mongodbStore({ db: database.db, prefix }),
    );
    if (one === undefined || other === undefined) throw new Error("two stores");
    await Promise.all([one.open(), other.open()]);
    await insertSome(one, 1);
    expect(await other.count()).toEqual([]);
    await Promise.all([one.close(), other.close()]);
  });

  describe("collections that another version has written", () => {
    let prefix = "";
    beforeEach(() => void (prefix = `v${randomUUID()}_`));
    const heads = () => database.db.collection<{ _id: string }>(`${prefix}head`);
    const jobs = () => database.db.collection(`${prefix}jobs`);

    async function opened(set: Document): Promise<void> {
      const first = mongodbStore({ db: database.db, prefix });
      await first.open();
      await first.close();
      await heads().updateOne({ _id: "store" }, { $set: set });
    }

    it("works with a later one that serves it, and leaves its indexes as they are", async () => {
      await opened({ version: 99, serves: 2 });
      await jobs().dropIndex("queue");
      await jobs().createIndex({ queue: 1, later: 1 }, { name: "queue" });
      const store = mongodbStore({ db: database.db, prefix });
      await store.open();
      await insertSome(store, 1);
      expect((await countsOf(store)).ready).toBe(1);
      await store.close();
      expect(await heads().findOne({ _id: "store" })).toMatchObject({ version: 99, serves: 2 });
    });

    it("says what to do about a later one that does not serve it", async () => {
      await opened({ version: 99, serves: 98 });
      const opening = mongodbStore({ db: database.db, prefix }).open();
      await expect(opening).rejects.toThrow(StoreOpenError);
      await expect(opening).rejects.toThrow(/upgrade the holdfast package/);
    });

    it("brings an earlier one up to date", async () => {
      await opened({ version: 1, serves: 1 });
      const store = mongodbStore({ db: database.db, prefix });
      await store.open();
      await store.close();
      expect(await heads().findOne({ _id: "store" })).toMatchObject({ version: 2, serves: 1 });
      const names = (await jobs().indexes()).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["queue", "ended", "again", "finished"]));
    });
  });
});
