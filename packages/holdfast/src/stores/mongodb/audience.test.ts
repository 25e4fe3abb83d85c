import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import type { Store, Wakeup } from "../../core/store.ts";
import { newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { Audience, isHeard, NEWS_MS } from "./audience.ts";
import { mongodbStore } from "./index.ts";

describe("listeners", () => {
  it("are others', and only as long as they last", () => {
    const listeners = { me: 500, you: 200 };
    expect(isHeard({}, { self: "me", now: 100 })).toBe(false);
    expect(isHeard(listeners, { self: "me", now: 100 })).toBe(true);
    expect(isHeard(listeners, { self: "me", now: 200 })).toBe(false);
    expect(isHeard(listeners, { self: "you", now: 200 })).toBe(true);
  });
});

describe("an audience", () => {
  it("is empty for a while after the news that it is", () => {
    let at = 0;
    const audience = new Audience(() => at);
    expect(audience.isEmpty).toBe(false);
    const learn = audience.ask();
    at += 100;
    learn(false);
    expect(audience.isEmpty).toBe(true);
    at += NEWS_MS - 100;
    expect(audience.isEmpty).toBe(true);
    at += 1;
    expect(audience.isEmpty).toBe(false);
  });

  it("is not empty once somebody listens", () => {
    const audience = new Audience();
    audience.ask()(false);
    audience.ask()(true);
    expect(audience.isEmpty).toBe(false);
  });
});

describe("a word to others", () => {
  let database: MongodbDatabase;
  const stores: Store[] = [];

  beforeEach(async () => {
    database = await mongodbDatabase();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await database.drop();
  });

  async function opened(): Promise<Store> {
    const store = mongodbStore({ db: database.db });
    stores.push(store);
    await store.open();
    return store;
  }

  /** Queues that somebody was told of. */
  async function said(): Promise<unknown[]> {
    const words = await database.db.collection("holdfast_wake").find({}).toArray();
    return words.flatMap(({ queues }) => (Array.isArray(queues) ? queues : []));
  }

  it("is not said where nobody else listens", async () => {
    const producer = await opened();
    producer.onWakeup(() => {});
    await producer.insert(newJobs(5), { areNew: true });
    // What is on its way is sent before it is closed.
    await producer.close();
    expect(await said()).toEqual([]);
  });

  it("is said, and heard, as soon as somebody does", async () => {
    const producer = await opened();
    await producer.insert(newJobs(1), { areNew: true });
    const worker = await opened();
    const heard = new Promise((resolve) => {
      worker.onWakeup(({ queues }) => resolve(queues));
    });
    await producer.insert(newJobs(1), { areNew: true });
    expect(await heard).toEqual([QUEUE]);
  });

  it("says how many jobs were inserted, and a lot, and else neither", async () => {
    const [producer, worker] = [await opened(), await opened()];
    const next = (): Promise<Wakeup> =>
      new Promise((resolve) => {
        const stop = worker.onWakeup((wakeup) => {
          stop();
          resolve(wakeup);
        });
      });
    const inserted = next();
    const [first] = newJobs(1);
    assert.ok(first);
    await producer.insert([first, ...newJobs(2)], { areNew: true });
    const { added, lot } = await inserted;
    expect(added).toBe(3);
    assert.ok(lot !== undefined && lot >= 0 && lot < 1);
    const due = { delayMs: 0, runAt: null };
    const moved = next();
    await producer.reschedule({ ids: [{ id: first.id }] }, due, { reason: null, by: null });
    expect(await moved).toEqual({ queues: [QUEUE], finished: [] });
  });

  it("about a job that has ended is said in any case", async () => {
    const worker = await opened();
    await worker.insert(newJobs(1), { areNew: true });
    const queues = [{ queue: QUEUE, limit: 1 }];
    const { jobs } = await worker.lease({ worker: "w", leaseMs: 10_000, limit: 1, queues });
    const settlements = jobs.map(({ id, queue, handle, fence }) => ({
      ...{ id, queue, handle, fence },
      outcome: { kind: "succeed", result: null, resultDropped: false } as const,
    }));
    expect(await worker.settle(settlements)).toEqual(["settled"]);
    await worker.close();
    const words = await database.db.collection("holdfast_wake").find({}).toArray();
    expect(words.flatMap(({ finished }) => finished ?? [])).toEqual(jobs.map(({ id }) => id));
  });
});
