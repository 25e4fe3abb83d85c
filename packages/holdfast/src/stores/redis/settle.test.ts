/** A plain success goes a short way. These look plain and are not. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { StoredJob } from "../../core/job.ts";
import type { Store } from "../../core/store.ts";
import {
  adoptOne,
  insertAll,
  insertOne,
  newJobs,
  QUEUE,
} from "../../testing/conformance/new-job.ts";
import { settle, settlement, succeed } from "../../testing/conformance/settling.ts";
import { takeExactly, takeNothing, takeOne } from "../../testing/conformance/take.ts";

let house: RedisHouse;
let place: Awaited<ReturnType<typeof redisPlace>>;
let store: Store;
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());
beforeEach(async () => {
  place = await redisPlace(house);
  store = await place.open();
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.dispose();
});

async function jobAfterSuccess(): Promise<StoredJob> {
  const job = await takeOne(store);
  await settle(store, job, succeed());
  const [stored] = await store.get([{ id: job.id }]);
  if (typeof stored !== "object" || stored === null) throw new Error("the job is gone");
  return stored;
}

describe("a success", () => {
  it("is recorded when it was not the first attempt, whoever made the first", async () => {
    await adoptOne(store, { attempts: 2 });
    const { status, history } = await jobAfterSuccess();
    expect(status).toBe("succeeded");
    expect(history.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([[3, "succeeded"]]);
  });

  it("ends the wish to cancel the job", async () => {
    const { id } = await insertOne(store);
    const job = await takeOne(store);
    await store.cancel({ ids: [{ id }] }, { reason: null, by: null });
    await settle(store, job, succeed());
    const [stored] = await store.get([{ id }]);
    expect(stored).toMatchObject({ status: "succeeded", cancelAsked: false });
  });

  it("counts once if one call names it twice", async () => {
    await store.limit([{ queue: QUEUE, group: "narrow", maxActive: 2 }]);
    await insertAll(store, newJobs(4, { group: "narrow" }));
    const [one, other] = await takeExactly(store, 2);
    if (one === undefined || other === undefined) throw new Error("there are two");
    const twice = [settlement(one, succeed()), settlement(one, succeed())];
    expect(await store.settle(twice)).toEqual(["settled", "settled"]);
    await takeOne(store);
    await takeNothing(store);
  });

  it("stands beside one of an id that no job can have", async () => {
    await insertAll(store, newJobs(3));
    const jobs = await takeExactly(store, 3);
    const ids = jobs.map(({ id }) => id);
    const strange = ["", "x", `${ids[0]}${ids[1]}`, "ü".repeat(36), "ü".repeat(18)];
    const [first, ...others] = jobs.map((job) => settlement(job, succeed()));
    if (first === undefined) throw new Error("there are three");
    const none = strange.map((id) => ({ ...first, id }));
    expect(await store.settle([first, ...none, ...others])).toEqual([
      "settled",
      ...strange.map(() => "lost"),
      ...others.map(() => "settled"),
    ]);
    const stored = await store.get(ids.map((id) => ({ id })));
    for (const job of stored) expect(job).toMatchObject({ status: "succeeded" });
  });
});
