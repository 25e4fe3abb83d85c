import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mongodbDatabase, type MongodbDatabase } from "../../../test/servers/mongodb-place.ts";
import { InvalidOptionError, StoreOpenError } from "../../core/errors.ts";
import { countsOf } from "../../testing/conformance/looking.ts";
import { insertSome } from "../../testing/conformance/new-job.ts";
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

  it("says what to do if nobody answers", async () => {
    const url = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200";
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
});
