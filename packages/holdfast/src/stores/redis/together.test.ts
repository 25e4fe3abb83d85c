/**
 * Scripts work out once what many jobs of a call have in common. What they do to jobs together must be
 * what they do to each alone.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { LeasedJob, Settlement, Store } from "../../core/store.ts";
import { idsOf, key, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import {
  cancelled,
  defer,
  die,
  dieUnstarted,
  release,
  retry,
  settlement,
  snooze,
  succeed,
} from "../../testing/conformance/settling.ts";

let house: RedisHouse;
/** The first does everything in one call, the second item by item. */
let places: Awaited<ReturnType<typeof redisPlace>>[];
let stores: Store[];
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());
beforeEach(async () => {
  places = [await redisPlace(house), await redisPlace(house)];
  stores = await Promise.all(places.map((place) => place.open()));
  for (const store of stores) await store.open();
});
afterEach(async () => {
  for (const store of stores) await store.close();
  for (const place of places) await place.dispose();
});

/** Calls the one store once and the other for each item: the answers must be the same. */
async function both<Item, Answer>(
  items: readonly Item[],
  call: (store: Store, items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const [together, alone] = stores as [Store, Store];
  const answers = await call(together, items);
  const alike: Answer[] = [];
  for (const item of items) alike.push(...(await call(alone, [item])));
  expect(alike).toEqual(answers);
  return answers;
}

async function expectAlike(ids: readonly string[]): Promise<void> {
  const refs = ids.map((id) => ({ id, queue: QUEUE }));
  const [together, alone] = await Promise.all(stores.map((store) => store.get(refs)));
  expect(alone).toEqual(together);
  const [counted, countedAlone] = await Promise.all(stores.map((store) => store.count()));
  expect(countedAlone).toEqual(counted);
}

/** One line, so that everybody gives jobs out in one order. */
const KINDS: readonly Partial<NewJob>[] = [
  {},
  {},
  { type: "email.check" },
  { priority: 5 },
  { tags: ["a", "b"] },
  { maxAttempts: 1 },
  { delayMs: 500 },
  { payload: JSON.stringify("ü".repeat(1_000)), meta: '{"a":1}', trace: "00-1-2-01" },
  { dedupe: key("kept") },
  { dedupe: key("until", "until-finished"), tags: ["a"] },
  { dedupe: key("for a time", { ttlMs: 50 }) },
];

const ENDS: readonly ((job: LeasedJob) => Settlement)[] = [
  (job) => settlement(job, succeed()),
  (job) => settlement(job, succeed('"sent"')),
  (job) => settlement(job, retry(0)),
  (job) => settlement(job, { kind: "succeed", result: null, resultDropped: true }),
  (job) => settlement(job, defer(0)),
  (job) => settlement(job, snooze(0)),
  (job) => settlement(job, release(0), { updates: { checkpoint: "5", logs: ["half"] } }),
  (job) => settlement(job, die()),
  (job) => settlement(job, dieUnstarted()),
  (job) => settlement(job, cancelled("not wanted")),
  (job) => settlement(job, succeed(), { discard: true }),
  (job) => settlement({ ...job, fence: job.fence - 1 }, succeed()),
];

async function leaseBoth(count: number): Promise<readonly LeasedJob[]> {
  const lease = async (store: Store, limit: number): Promise<readonly LeasedJob[]> => {
    const request = { worker: "w", leaseMs: 1_000, limit, queues: [{ queue: QUEUE, limit }] };
    return (await store.lease(request)).jobs;
  };
  return both(Array.from({ length: count }), (store, items) => lease(store, items.length));
}

describe("jobs in one call", () => {
  it("go the ways that each would go alone", async () => {
    const jobs = Array.from({ length: 6 }, () => KINDS.map((kind) => newJob(kind))).flat();
    await both(jobs, (store, items) => store.insert(items));
    const ids = idsOf(jobs);
    await expectAlike(ids);
    for (let round = 0; round < 4; round += 1) {
      const leased = await leaseBoth(jobs.length);
      expect(leased.length).toBeGreaterThan(0);
      await expectAlike(ids);
      // Every other job of the last round is left to the reaper.
      const ended = leased.filter((_, index) => round < 2 || index % 2 === 0);
      const ends = ended.map((job, index) =>
        (ENDS[(index + round) % ENDS.length] ?? ENDS[0])!(job),
      );
      await both(ends, (store, items) => store.settle(items));
      await both([...ends].reverse(), (store, items) => store.settle(items));
      await expectAlike(ids);
      for (const place of places) await place.advance(600);
      for (const store of stores) await store.reap({ limit: 200 });
    }
    await expectAlike(ids);
  });

  it("are one job when they have one id, or one key", async () => {
    const [job, keyed] = [newJob(), newJob({ dedupe: key("k") })];
    const other = newJob({ dedupe: { ...key("k"), hash: "another" } });
    const results = await both(
      [job, keyed, job, newJob({ dedupe: key("k") }), other],
      (store, items) => store.insert(items),
    );
    const outcomes = results.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["added", "added", "duplicate", "duplicate", "conflict"]);
    await expectAlike(idsOf([job, keyed]));
  });

  it("are settled once when they are named twice", async () => {
    await both([newJob()], (store, items) => store.insert(items));
    const [job] = (await leaseBoth(1)) as [LeasedJob];
    const ends: Outcome[] = [succeed('"first"'), succeed('"second"'), die()];
    const named = ends.map((outcome) => settlement(job, outcome));
    expect(await both(named, (store, items) => store.settle(items))).toEqual(
      ends.map(() => "settled"),
    );
    await expectAlike([job.id]);
  });
});
