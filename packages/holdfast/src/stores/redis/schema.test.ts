/** The number of the layout in Redis: older data are listed anew, newer ones are used or refused. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { allKeys, redisHouse, type RedisHouse } from "../../../../../test/servers/redis-place.ts";
import { StoreOpenError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { insertSome } from "../../testing/conformance/new-job.ts";
import { die, FAILURE, retry, settle } from "../../testing/conformance/settling.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

let house: RedisHouse;
let prefix: string;
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());
beforeEach(() => void (prefix = `schema_${randomBytes(6).toString("hex")}`));
afterEach(async () => {
  for (const key of await allKeys(house.client, prefix)) await house.client.unlink(key);
});

async function opened(): Promise<Store> {
  const store = redisStore({ client: house.client, prefix });
  await store.open();
  return store;
}

async function write(schema: number, serves: number): Promise<void> {
  await house.client.hset(`{${prefix}}:m`, { schema, serves });
}

/** As a program of layout 1 would have left it. */
async function forgetLists(): Promise<void> {
  const listed = /}:(z:|dk:|dn:|rt$|ek:|ej:)/;
  for (const key of await allKeys(house.client, prefix)) {
    if (listed.test(key)) await house.client.unlink(key);
  }
  await house.client.hdel(`{${prefix}}:m`, "schema", "serves");
}

describe("the layout in Redis", () => {
  it("has a number from the first open on", async () => {
    const store = await opened();
    expect(await house.client.hmget(`{${prefix}}:m`, "schema", "serves")).toEqual(["2", "2"]);
    await store.close();
  });

  it("of an older version is brought up to date: what was there is found and counted", async () => {
    const before = await opened();
    await insertSome(before, 1_200);
    const [first, second, ...others] = await takeExactly(before, 1_200);
    for (const job of others.slice(0, 20)) await settle(before, job, die("failed", FAILURE));
    for (const job of [first, second]) if (job !== undefined) await settle(before, job, retry(0));
    const entry = { kind: "failure", jobId: "j", type: null, queue: null, group: null };
    const body = { category: null, state: "open", body: "{}", at: null };
    await before.ledger.append([{ id: "e", ...entry, ...body }]);
    await before.close();
    await forgetLists();
    const after = await opened();
    const [counts] = await after.count();
    expect(counts).toMatchObject({ dead: 20, retrying: 2 });
    expect(await after.countDead({ by: "category", limit: 5 })).toMatchObject([{ count: 20 }]);
    const dead = await after.find({ status: ["dead"], type: "email.send" }, { limit: 50 });
    expect(dead.jobs).toHaveLength(20);
    expect((await after.ledger.read({ kind: "failure" }, { limit: 5 })).entries).toHaveLength(1);
    await after.close();
  });

  it("of a newer version is used if that serves this one", async () => {
    await write(3, 2);
    const store = await opened();
    await insertSome(store, 1);
    await store.close();
    expect(await house.client.hget(`{${prefix}}:m`, "schema")).toBe("3");
  });

  it("of a newer version that does not is refused, in words that say what to do", async () => {
    await write(4, 3);
    await expect(opened()).rejects.toBeInstanceOf(StoreOpenError);
    await expect(opened()).rejects.toThrow(/upgrade this program/);
  });
});
