import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import type { Store } from "../../core/store.ts";
import { newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { mongodbStore } from "./index.ts";

describe("the bound of a queue", () => {
  let database: MongodbDatabase;
  let busy: Store;
  let other: Store;

  beforeEach(async () => {
    database = await mongodbDatabase();
    [busy, other] = [mongodbStore({ db: database.db }), mongodbStore({ db: database.db })];
    for (const store of [busy, other]) await store.open();
  });
  afterEach(async () => {
    for (const store of [busy, other]) await store.close();
    await database.drop();
  });

  it("is known to a process that inserts without a pause once it is set", async () => {
    let isSet = false;
    const late: string[] = [];
    let inserting = Promise.resolve();
    await new Promise<void>((resolve) => {
      const insertAlways = async (): Promise<void> => {
        for (let inserts = 0; late.length < 5 && inserts < 5_000; inserts++) {
          const isLate = isSet;
          const [result] = await busy.insert(newJobs(1), { areNew: true });
          if (isLate) late.push(result?.outcome ?? "");
          if (inserts === 4) resolve();
        }
      };
      inserting = insertAlways();
    });
    await other.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    isSet = true;
    await inserting;
    expect(late).toEqual(Array(5).fill("full"));
  });
});
