/** Hints between processes: only to the hungry, and heard again after the connection was cut. */
import { once } from "node:events";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import type { LeaseReply, Wakeup } from "../../core/store.ts";
import { insertOne, insertSome, key, QUEUE } from "../../testing/conformance/new-job.ts";
import { release, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, take, takeExactly, takeNothing } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

let server: OwnRedis;
beforeAll(async () => void (server = await startOwnRedis()));
afterAll(() => server.stop());

describe("wakeups", () => {
  it("are published when somebody went away hungry, and not under a backlog", async () => {
    const ear = new Redis(server.url);
    const heard: string[] = [];
    await ear.subscribe("{hf}:wake");
    ear.on("message", (_channel, message) => heard.push(message));
    const store = redisStore({ url: server.url });
    await store.open();
    await insertSome(store, 20);
    await takeExactly(store, 5);
    await insertSome(store, 20);
    await takeExactly(store, 35);
    expect(heard).toEqual([]);
    await takeNothing(store);
    const message = once(ear, "message");
    await insertOne(store);
    await message;
    expect(heard.map((text) => (JSON.parse(text) as Wakeup).queues)).toEqual([[QUEUE]]);
    await store.close();
    ear.disconnect();
  });

  it("say how many jobs came, and the hungry hear of each insert until one has told all", async () => {
    const store = redisStore({ url: server.url });
    const other = redisStore({ url: server.url });
    for (const one of [store, other]) await one.open();
    await take(store, 50);
    const heard: Wakeup[] = [];
    let resolve = (): void => {};
    const next = async () => new Promise<void>((done) => void (resolve = done));
    other.onWakeup((wakeup) => {
      heard.push(wakeup);
      resolve();
    });
    for (const count of [3, 2]) {
      const hears = next();
      await insertSome(store, count);
      await hears;
    }
    expect(heard.map(({ queues, added }) => [queues, added])).toEqual([
      [[QUEUE], 3],
      [[QUEUE], 2],
    ]);
    for (const { lot } of heard) expect(lot).toBeTypeOf("number");
    // A job that goes back may be one of any number, and everybody hears of it.
    const hears = next();
    const [job] = await takeExactly(store, 5);
    if (job !== undefined) await settle(store, job, release());
    await hears;
    expect(heard.at(-1)).toMatchObject({ queues: [QUEUE] });
    expect(heard.at(-1)).not.toHaveProperty("added");
    for (const one of [store, other]) await one.close();
  });

  it("come while the job is on its way, and a lease sent then finds it", async () => {
    const store = redisStore({ url: server.url });
    await store.open();
    await take(store, 50);
    const leasings: Promise<LeaseReply>[] = [];
    store.onWakeup(() => void leasings.push(store.lease(leaseRequest(1))));
    const inserting = insertOne(store);
    // Before anything can have been read from the server.
    for (let hop = 0; hop < 100; hop++) await Promise.resolve();
    expect(leasings).toHaveLength(1);
    const leased = await leasings[0];
    expect(leased?.jobs.map(({ id }) => id)).toEqual([(await inserting).id]);
    await store.close();
  });

  it("come once for a job of this process: who asked behind it is not told again", async () => {
    const store = redisStore({ url: server.url });
    await store.open();
    await take(store, 50);
    const heard: Wakeup[] = [];
    store.onWakeup((wakeup) => void heard.push(wakeup));
    await insertOne(store);
    await take(store, 1);
    expect(heard).toEqual([{ queues: [QUEUE], finished: [] }]);
    await store.close();
  });

  it("come again when the job had to be sent again", async () => {
    const admin = new Redis(server.url);
    const store = redisStore({ url: server.url });
    await store.open();
    await take(store, 50);
    const leasings: Promise<LeaseReply>[] = [];
    store.onWakeup(() => void leasings.push(store.lease(leaseRequest(1))));
    // The server knows no scripts any more: what was sent is refused and sent again, in full.
    await admin.script("FLUSH");
    // A job with a key is not handed over: insert and lease are two scripts.
    const { id } = await insertOne(store, { dedupe: key("k") });
    const leased = (await Promise.all(leasings)).flatMap(({ jobs }) => jobs);
    expect(leasings.length).toBeGreaterThan(1);
    expect(leased.map((job) => job.id)).toEqual([id]);
    await store.close();
    admin.disconnect();
  });

  it("are made up for after the listening connection was cut", async () => {
    const admin = new Redis(server.url);
    const store = redisStore({ url: server.url });
    const other = redisStore({ url: server.url });
    await store.open();
    await other.open();
    await insertOne(store);
    const looksEverywhere = new Promise<Wakeup>((resolve) => other.onWakeup(resolve));
    await admin.call("CLIENT", "KILL", "TYPE", "pubsub");
    expect((await looksEverywhere).queues).toContain(QUEUE);
    // And it hears again.
    await take(store, 50);
    await takeNothing(other);
    const hears = new Promise<Wakeup>((resolve) => other.onWakeup(resolve));
    await insertOne(store);
    expect((await hears).queues).toEqual([QUEUE]);
    await store.close();
    await other.close();
    admin.disconnect();
  });
});
