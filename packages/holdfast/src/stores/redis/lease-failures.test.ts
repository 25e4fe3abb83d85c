/** A lease of several queues of which one part of the reply got lost. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Redis } from "ioredis";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import type { LeaseReply, Store } from "../../core/store.ts";
import { idsOf, insertOne } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";
import type { Arg } from "./client-like.ts";

const QUEUES = ["mail", "sms"];
const NEVER_SENT = "Stream isn't writeable and enableOfflineQueue options is false";
const LOST = "Connection is closed.";

let server: OwnRedis;
let client: Redis;
beforeAll(async () => {
  server = await startOwnRedis();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});
beforeEach(async () => void (await client.flushall()));

/** A client that does what it is told, and then loses the replies that concern these queues. */
function lossy(losing: ReadonlyMap<string, string>): Redis {
  const callBuffer = async (command: string, ...args: Arg[]): Promise<unknown> => {
    const isOf = (queue: string) => args.some((arg) => arg === `{hf:${queue}}:`);
    const [, message] = [...losing].find(([queue]) => isOf(queue)) ?? [];
    if (message === NEVER_SENT) throw new Error(message);
    const reply = await client.callBuffer(command, ...args);
    if (message !== undefined) throw new Error(message);
    return reply;
  };
  return new Proxy(client, {
    get: (target, name) => (name === "callBuffer" ? callBuffer : Reflect.get(target, name)),
  });
}

async function leaseLosing(losses: Readonly<Record<string, string>>): Promise<LeaseReply> {
  const losing = new Map<string, string>();
  const store: Store = redisStore({ client: lossy(losing) });
  await store.open();
  try {
    for (const [queue, message] of Object.entries(losses)) losing.set(queue, message);
    return await store.lease(leaseRequest(10, { queues: QUEUES, worker: "worker-9" }));
  } finally {
    await store.close();
  }
}

async function whole(): Promise<Store> {
  const store = redisStore({ url: server.url });
  await store.open();
  return store;
}

describe("a lease of which a part got lost", () => {
  it("answers what is known, and names the queue in doubt", async () => {
    const store = await whole();
    const known = await insertOne(store, { queue: "mail" });
    await insertOne(store, { queue: "sms" });
    const { jobs, unsure } = await leaseLosing({ sms: LOST });
    expect([idsOf(jobs), unsure]).toEqual([[known.id], ["sms"]]);
    expect(await store.disown({ worker: "worker-9", queues: ["sms"], except: jobs })).toBe(1);
    await store.close();
  });

  it("names the queue in doubt also if the others have nothing", async () => {
    const store = await whole();
    await insertOne(store, { queue: "sms" });
    const { jobs, unsure } = await leaseLosing({ sms: LOST });
    expect([jobs, unsure]).toEqual([[], ["sms"]]);
    await store.close();
  });

  it("is not in doubt about a queue that was never asked", async () => {
    const store = await whole();
    const known = await insertOne(store, { queue: "mail" });
    const reply = await leaseLosing({ sms: NEVER_SENT });
    expect([idsOf(reply.jobs), reply.unsure]).toEqual([[known.id], undefined]);
    await store.close();
  });

  it("throws if there is nothing to answer and nothing in doubt", async () => {
    await expect(leaseLosing({ sms: NEVER_SENT })).rejects.toMatchObject({
      mayHaveHappened: false,
    });
  });

  it("throws if no queue has answered, and says that something may have happened", async () => {
    await expect(leaseLosing({ mail: NEVER_SENT, sms: LOST })).rejects.toMatchObject({
      code: "HOLDFAST_STORE_UNAVAILABLE",
      mayHaveHappened: true,
    });
  });
});
