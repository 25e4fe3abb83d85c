/** What a lease costs the server: a step for each line that may give something, and no more. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { Store } from "../../core/store.ts";
import { insertAll, insertOne, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { renew, retry, settle, succeed } from "../../testing/conformance/settling.ts";
import {
  leaseRequest,
  take,
  takeExactly,
  takeNothing,
  takeOne,
} from "../../testing/conformance/take.ts";

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

const LINES = 300;
const groups = Array.from({ length: LINES }, (_, index) => `line-${index}`);
const hold = { forMs: null, reason: "closed", by: null };

async function lengthOf(key: string): Promise<number> {
  return house.client.zcard(place.base(QUEUE) + key);
}

describe("the ring of lines", () => {
  it("parks lines that are held, and takes them back when they are released", async () => {
    await insertAll(
      store,
      groups.map((group) => newJob({ group })),
    );
    await store.hold(groups.map((group) => ({ queue: QUEUE, group, owner: "pause", hold })));
    await takeNothing(store);
    expect([await lengthOf("g"), await lengthOf("gp")]).toEqual([0, LINES]);
    const open = await insertOne(store, { group: "open" });
    expect((await takeOne(store)).id).toBe(open.id);
    await store.hold(groups.map((group) => ({ queue: QUEUE, group, owner: "pause", hold: null })));
    expect(await lengthOf("gp")).toBe(0);
    await takeExactly(store, LINES);
  });

  it("takes lines back by itself whose hold has ended", async () => {
    await insertAll(
      store,
      groups.map((group) => newJob({ group })),
    );
    const changes = groups.map((group) => ({ queue: QUEUE, group, owner: "cooldown" }));
    await store.hold(changes.map((change) => ({ ...change, hold: { ...hold, forMs: 1_000 } })));
    await takeNothing(store);
    await place.advance(1_000);
    expect(await take(store, LINES)).toHaveLength(LINES);
  });

  it("parks lines that are full, and takes them back when a job of them leaves", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 1 }]);
    await insertAll(
      store,
      groups.flatMap((group) => [newJob({ group }), newJob({ group })]),
    );
    const leased = await takeExactly(store, LINES);
    await takeNothing(store);
    expect([await lengthOf("g"), await lengthOf("gf")]).toEqual([0, LINES]);
    const [first] = leased;
    if (first !== undefined) await settle(store, first, succeed());
    expect(await lengthOf("gf")).toBe(LINES - 1);
    expect((await takeOne(store)).group).toBe(first?.group);
  });

  it("forgets lines that have no jobs and no settings", async () => {
    await insertAll(
      store,
      groups.map((group) => newJob({ group })),
    );
    for (const job of await takeExactly(store, LINES)) await settle(store, job, succeed());
    for (const key of ["g", "gp", "gf", "n"]) expect(await lengthOf(key)).toBe(0);
  });
});

describe("what one lease gives", () => {
  it("is whole: short bodies and long ones, fresh jobs and retried ones, of many kinds", async () => {
    const jobs = Array.from({ length: 120 }, (_, index) =>
      newJob({
        payload: JSON.stringify(`${index} ${"ü".repeat([10, 240, 260, 9_000][index % 4] ?? 0)}`),
        type: `type-${index % 7}`,
        priority: index % 3,
        ...(index % 5 === 0 ? { tags: [`tag-${index}`] } : {}),
        ...(index % 11 === 0 ? { meta: '{"a":1}', trace: `trace-${index}` } : {}),
        maxAttempts: 3 + (index % 2),
      }),
    );
    await insertAll(store, jobs);
    const first = await takeExactly(store, 30);
    for (const job of first) await settle(store, job, retry());
    const checkpoint = await takeOne(store);
    await renew(store, checkpoint, { checkpoint: "here" });
    await settle(store, checkpoint, retry());
    const { jobs: leased } = await store.lease(leaseRequest(jobs.length));
    expect(leased).toHaveLength(jobs.length);
    for (const job of leased) {
      const { id, payload, type, priority, tags, meta, trace, maxAttempts } =
        jobs.find((one) => one.id === job.id) ?? newJob();
      const attempt = [...first, checkpoint].filter((one) => one.id === id).length + 1;
      expect(job).toMatchObject({ id, payload, type, priority, tags, meta, trace, maxAttempts });
      expect(job).toMatchObject({ queue: QUEUE, handle: id, attempt, exhausted: false });
      expect(job.checkpoint).toBe(id === checkpoint.id ? "here" : null);
    }
  });

  it("is no more than a line's cap, even if it comes to the line again", async () => {
    await store.limit([{ queue: QUEUE, group: "narrow", maxActive: 7 }]);
    const inLine = (group: string, count: number) =>
      Array.from({ length: count }, () => newJob({ group }));
    await insertAll(store, [...inLine("narrow", 30), ...inLine("wide", 20), ...inLine("one", 1)]);
    const { jobs } = await store.lease(leaseRequest(60));
    const given = (group: string) => jobs.filter((job) => job.group === group).length;
    expect([given("narrow"), given("wide"), given("one")]).toEqual([7, 20, 1]);
    const [held] = jobs.filter(({ group }) => group === "narrow");
    if (held !== undefined) await settle(store, held, succeed());
    expect((await takeOne(store)).group).toBe("narrow");
    await takeNothing(store);
  });
});
