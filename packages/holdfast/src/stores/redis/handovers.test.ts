/**
 * A new job that goes to a worker of its own process in one script. What becomes of it must be what insert
 * and lease make of it one after the other; where anything is in the way, they are what is called.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { NewJob } from "../../core/job.ts";
import type { InsertResult, LeaseReply, LeaseRequest, Store } from "../../core/store.ts";
import { insertOne, key, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { settle, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, take, takeNothing, takeOne } from "../../testing/conformance/take.ts";
import type { Arg, ClientLike } from "./client-like.ts";
import { script, type ScriptName } from "./script.ts";

const NAMES: readonly ScriptName[] = ["insert", "lease", "hand-over"];

let house: RedisHouse;
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());

/** What went to the server, and what is to become of the next of a kind. */
let sent: ScriptName[];
let spoil: { readonly name: ScriptName; readonly how: "lost" | "refused" } | null;
let place: Awaited<ReturnType<typeof redisPlace>>;
let store: Store;

function spied(client: ClientLike): ClientLike {
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const method = value as (...args: unknown[]) => unknown;
      if (property !== "callBuffer") return method.bind(target);
      return async (command: string, ...args: Arg[]): Promise<unknown> => {
        const [asked] = args;
        const name = NAMES.find((one) => asked === script(one).sha || asked === script(one).source);
        if (name === undefined) return method.call(target, command, ...args);
        if (command === "EVALSHA") sent.push(name);
        const ruin = spoil?.name === name ? spoil.how : null;
        if (ruin === "refused")
          throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
        const reply = await method.call(target, command, ...args);
        if (ruin === "lost") throw new Error("Connection is closed.");
        return reply;
      };
    },
  });
}

beforeEach(async () => {
  sent = [];
  spoil = null;
  place = await redisPlace(house, spied(house.client));
  store = await place.open();
  await store.open();
});
afterEach(async () => {
  spoil = null;
  await store.close();
  await place.dispose();
});

interface Met {
  readonly inserted: PromiseSettledResult<InsertResult[]>;
  readonly leased: readonly PromiseSettledResult<LeaseReply>[];
}

/** Inserts, and asks as soon as this process hears of it, as an idle worker does. */
async function meet(
  jobs: readonly NewJob[],
  request: LeaseRequest = leaseRequest(10),
): Promise<Met> {
  const asking: Promise<PromiseSettledResult<LeaseReply>[]>[] = [];
  const stop = store.onWakeup(({ queues }) => {
    if (queues.some((name) => request.queues.some(({ queue }) => queue === name))) {
      asking.push(Promise.allSettled([store.lease(request)]));
    }
  });
  sent = [];
  const [inserted] = await Promise.allSettled([store.insert(jobs)]);
  // What was to be told at the end of the insert is told by then.
  await new Promise((resolve) => setImmediate(resolve));
  stop();
  return { inserted, leased: (await Promise.all(asking)).flat() };
}

const idsOf = ({ leased }: Met) =>
  leased.flatMap((one) => (one.status === "fulfilled" ? one.value.jobs.map(({ id }) => id) : []));
const outcomeOf = ({ inserted }: Met) =>
  inserted.status === "fulfilled" ? inserted.value[0]?.outcome : inserted.reason;

/** From here on an idle worker of this process is known to have found nothing. */
async function drained(): Promise<void> {
  const job = await insertOne(store);
  await settle(store, await takeOne(store), succeed());
  await takeNothing(store);
  expect(job.queue).toBe(QUEUE);
}

describe("a job for an idle worker of its process", () => {
  beforeEach(drained);

  it("is stored and leased by one script", async () => {
    const job = newJob();
    const met = await meet([job]);
    expect([outcomeOf(met), idsOf(met), sent]).toEqual(["added", [job.id], ["hand-over"]]);
    expect((await store.count())[0]).toMatchObject({ processing: 1, ready: 0 });
    await takeNothing(store);
  });

  it.each<[string, Partial<NewJob>]>([
    ["nothing but a type", {}],
    ["a group", { group: "a" }],
    ["tags and a priority", { tags: ["a", "b"], priority: 5 }],
    ["a priority of many digits", { priority: 4_000_000_000 }],
    ["one attempt", { maxAttempts: 1 }],
    [
      "a long payload",
      { payload: JSON.stringify("ü".repeat(5_000)), meta: '{"a":1}', trace: "00-1" },
    ],
  ])("is what two calls make of it: %s", async (_, some) => {
    const one = newJob(some);
    const together = await meet([one]);
    expect(sent).toEqual(["hand-over"]);
    const handed = together.leased[0];
    const other = newJob({ ...some });
    sent = [];
    await store.insert([other]);
    const leased = await store.lease(leaseRequest(10));
    expect(sent).toEqual(["insert", "lease"]);
    const stored = await store.get([one, other].map(({ id }) => ({ id, queue: QUEUE })));
    const alike = { id: "", fence: 0, handle: "" };
    const [first, second] = stored.map((job) => job !== "pruned" && { ...job, ...alike });
    expect(first).toEqual(second);
    if (handed?.status !== "fulfilled") throw handed?.reason;
    expect(handed.value.nextInMs).toBe(leased.nextInMs);
    expect({ ...handed.value.jobs[0], ...alike }).toEqual({ ...leased.jobs[0], ...alike });
    for (const job of [...handed.value.jobs, ...leased.jobs]) await settle(store, job, succeed());
    await takeNothing(store);
  });

  it("says when a delayed one falls due", async () => {
    await insertOne(store, { delayMs: 2_000 });
    const { leased } = await meet([newJob()]);
    expect(sent).toEqual(["hand-over"]);
    expect(leased).toMatchObject([{ value: { nextInMs: 2_000 } }]);
  });

  it("leaves its lease like any other when its worker dies", async () => {
    const job = newJob();
    await meet([job], leaseRequest(1, { leaseMs: 1_000 }));
    await place.advance(1_001);
    await store.reap({ limit: 10 });
    expect(await takeOne(store)).toMatchObject({ id: job.id, crashes: 1 });
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      "a hold of the queue",
      () =>
        store.hold([
          { queue: QUEUE, group: null, owner: "o", hold: { forMs: null, reason: "", by: null } },
        ]),
    ],
    ["a cap of the queue", () => store.limit([{ queue: QUEUE, group: null, maxActive: 5 }])],
    ["a bound of the queue", () => store.limit([{ queue: QUEUE, group: null, maxWaiting: 5 }])],
    [
      "a hold of a line",
      () =>
        store.hold([
          { queue: QUEUE, group: "a", owner: "o", hold: { forMs: null, reason: "", by: null } },
        ]),
    ],
    ["a job before it", () => insertOne(store)],
    [
      "a job that falls due",
      async () => {
        await insertOne(store, { delayMs: 10 });
        await place.advance(11);
      },
    ],
  ])("goes by two scripts where something is in the way: %s", async (_, prepare) => {
    await prepare();
    const waiting = (await store.count())[0];
    const job = newJob({ group: "a" });
    const met = await meet([job]);
    expect([outcomeOf(met), sent]).toEqual(["added", ["hand-over", "insert", "lease"]]);
    const counts = (await store.count())[0];
    const all = (one: typeof counts) => (one ? one.ready + one.delayed + one.processing : 0);
    expect(all(counts)).toBe(all(waiting) + 1);
  });

  it("is found by its worker also if the server does not know the scripts", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActive: 5 }]);
    await house.client.callBuffer("SCRIPT", "FLUSH");
    // It knows this one again.
    await takeNothing(store);
    const job = newJob();
    const met = await meet([job]);
    expect([outcomeOf(met), idsOf(met)]).toEqual(["added", [job.id]]);
  });

  it("is offered less and less often while something stays in the way, and then as before", async () => {
    const hold = { forMs: null, reason: "", by: null };
    await store.hold([{ queue: QUEUE, group: null, owner: "o", hold }]);
    const offered: number[] = [];
    for (let order = 0; order < 12; order += 1) {
      await meet([newJob()]);
      if (sent.includes("hand-over")) offered.push(order);
    }
    expect(offered).toEqual([0, 2, 5, 10]);
    await store.hold([{ queue: QUEUE, group: null, owner: "o", hold: null }]);
    for (const leased of await take(store, 50)) await settle(store, leased, succeed());
    await takeNothing(store);
    for (let order = 12; order < 20; order += 1) {
      await meet([newJob()]);
      if (sent.includes("hand-over")) offered.push(order);
    }
    expect(offered.slice(4)).toEqual([19]);
    await meet([newJob()]);
    expect(sent).toEqual(["hand-over"]);
  });

  it("is not handed over twice, nor once it is known", async () => {
    const job = newJob();
    await meet([job]);
    const again = await meet([job]);
    expect([outcomeOf(again), idsOf(again)]).toEqual(["duplicate", []]);
    expect(sent).toEqual(["hand-over", "insert", "lease"]);
  });

  it("goes alone if it has a key, a delay or company", async () => {
    for (const jobs of [
      [newJob({ dedupe: key("k") })],
      [newJob({ delayMs: 5 })],
      [newJob(), newJob()],
    ]) {
      await meet(jobs);
      expect(sent).not.toContain("hand-over");
      await place.advance(10);
      for (const leased of await take(store, 10)) await settle(store, leased, succeed());
      await takeNothing(store);
    }
  });

  it("waits if its worker can take no more bytes than it has", async () => {
    const job = newJob({ payload: JSON.stringify("x".repeat(2_000)) });
    const met = await meet([job], leaseRequest(10, { maxBytes: 100 }));
    // The first of a call comes whatever its size.
    expect([idsOf(met), sent]).toEqual([[job.id], ["hand-over"]]);
  });

  it("is there once if the reply gets lost, and both callers hear that it may have happened", async () => {
    const job = newJob();
    spoil = { name: "hand-over", how: "lost" };
    const met = await meet([job]);
    spoil = null;
    expect(outcomeOf(met)).toMatchObject({ mayHaveHappened: true });
    expect(met.leased).toMatchObject([{ reason: { mayHaveHappened: true } }]);
    const request = leaseRequest(1);
    expect(await store.disown({ worker: request.worker, queues: [QUEUE], except: [] })).toBe(1);
    expect(await store.insert([job])).toMatchObject([{ outcome: "duplicate", status: "queued" }]);
    expect(await takeOne(store)).toMatchObject({ id: job.id, attempt: 1, crashes: 0 });
  });

  it("is refused by a full memory, which lets its worker lease what is there", async () => {
    spoil = { name: "hand-over", how: "refused" };
    const met = await meet([newJob()]);
    expect(outcomeOf(met)).toBeInstanceOf(Error);
    expect(met.leased).toMatchObject([{ status: "fulfilled", value: { jobs: [] } }]);
    expect(sent).toEqual(["hand-over", "lease"]);
  });
});

describe("a job for nobody at hand", () => {
  it("is inserted and no more", async () => {
    await drained();
    sent = [];
    await insertOne(store);
    expect(sent).toEqual(["insert"]);
  });

  it("is inserted and no more where others still have work to take", async () => {
    await insertOne(store);
    await meet([newJob()]);
    expect(sent.toSorted()).toEqual(["insert", "lease"]);
  });
});
