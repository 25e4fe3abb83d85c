/** Disowning in steps, and what is remembered of it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { LeaseRef, Store } from "../../core/store.ts";
import { insertAll, insertOne, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { renew } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeOne } from "../../testing/conformance/take.ts";

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

const HOUR_MS = 3_600_000;
const LOST = "worker-9";

const remembered = async (queue: string, key = "w") => house.client.exists(place.base(queue) + key);
const disown = async (except: readonly LeaseRef[], queues = [QUEUE], worker = LOST) =>
  store.disown({ worker, queues, except });

describe("disown", () => {
  it("goes through all leases of a queue and keeps all that its worker knows", async () => {
    await insertAll(
      store,
      Array.from({ length: 3_000 }, () => newJob()),
    );
    const leased: LeaseRef[] = [];
    // Two workers of alternating leases; one's name ends as the other's.
    for (let call = 0; call < 6; call++) {
      const worker = call % 2 === 0 ? LOST : `other-${LOST}`;
      leased.push(...(await store.lease(leaseRequest(500, { worker }))).jobs);
    }
    const own = leased.filter((_, index) => Math.floor(index / 500) % 2 === 0);
    // More than one call takes, most of them of jobs that it has no more.
    const gone = Array.from({ length: 2_500 }, () => ({ ...own[0], id: newJob().id }) as LeaseRef);
    const known = own.filter((_, index) => index % 3 === 0);
    expect(await disown([...gone, ...known])).toBe(own.length - known.length);
    const [kept, lost] = [known[0], own[1]];
    if (kept !== undefined) expect(await renew(store, kept)).toBe("kept");
    if (lost !== undefined) expect(await renew(store, lost)).toBe("lost");
    expect(await disown([...gone, ...known])).toBe(0);
    expect((await store.count())[0]).toMatchObject({ processing: 1_500 + known.length });
  });

  it("is forgotten after an hour, by the next prune", async () => {
    await insertOne(store);
    const job = await takeOne(store, { worker: LOST });
    await disown([job]);
    await place.advance(HOUR_MS - 1);
    await store.prune([], 10);
    expect([await remembered(QUEUE), await remembered(QUEUE, `w:${LOST}`)]).toEqual([1, 1]);
    await place.advance(1);
    await store.prune([], 10);
    expect([await remembered(QUEUE), await remembered(QUEUE, `w:${LOST}`)]).toEqual([0, 0]);
  });

  it("leaves no more behind in a queue that never has a job than one hour of it", async () => {
    const job = { id: newJob().id, queue: "never", fence: 1, handle: "" };
    await disown([job], ["never"]);
    await place.advance(HOUR_MS);
    await disown([], ["never"], "worker-10");
    expect(await remembered("never", `w:${LOST}`)).toBe(0);
    expect(await house.client.zcard(`${place.base("never")}w`)).toBe(1);
  });

  it("says what it knows anew each time", async () => {
    await insertOne(store);
    const job = await takeOne(store, { worker: LOST });
    expect([await disown([job]), await disown([])]).toEqual([0, 1]);
  });
});
