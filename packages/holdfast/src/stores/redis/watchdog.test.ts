/** Connections that are dead without anybody having said so, behind clients of all kinds. */
import { setTimeout as pause } from "node:timers/promises";
import { Cluster, Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FaultProxy } from "../../../../../test/servers/fault-proxy.ts";
import { startRedisCluster } from "../../../../../test/servers/redis-cluster.ts";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { redisStore, type RedisPlace, type RedisStore } from "./index.ts";

/** Long before any deadline is over, and with some patience for a busy machine. */
const SOON_MS = 4_000;
/** On a cluster they are on different nodes. */
const QUEUES = ["mail", "sms", "fax", "post"];

interface Kind {
  readonly name: string;
  start(): Promise<{ readonly nodes: readonly OwnRedis[]; stop(): Promise<void> }>;
  /** Through the proxies, by the addresses of the nodes. */
  place(proxies: ReadonlyMap<string, URL>): RedisPlace;
}

const one = async () => {
  const server = await startOwnRedis();
  return { nodes: [server], stop: () => server.stop() };
};
const firstOf = (proxies: ReadonlyMap<string, URL>) => [...proxies.values()][0]!.href;

const KINDS: readonly Kind[] = [
  { name: "a URL", start: one, place: (proxies) => ({ url: firstOf(proxies) }) },
  {
    name: "the caller's own client",
    start: one,
    place: (proxies) => ({ client: quiet(new Redis(firstOf(proxies))) }),
  },
  {
    name: "the caller's own cluster",
    start: startRedisCluster,
    place(proxies) {
      const entries = [...proxies].map(([node, { hostname: host, port }]) => {
        return [node, { host, port: Number(port) }] as const;
      });
      const natMap = Object.fromEntries(entries);
      return { client: quiet(new Cluster([firstOf(proxies)], { natMap })) };
    },
  },
];

function quiet<Client extends Redis | Cluster>(client: Client): Client {
  client.on("error", () => {});
  return client;
}

describe.each(KINDS)("with $name", { timeout: 60_000 }, ({ start, place }) => {
  let servers: Awaited<ReturnType<Kind["start"]>>;
  const proxies: FaultProxy[] = [];
  const routes = new Map<string, URL>();
  let at: RedisPlace;
  let store: RedisStore;

  beforeAll(async () => {
    servers = await start();
    for (const { url } of servers.nodes) {
      const proxy = new FaultProxy(url);
      proxies.push(proxy);
      routes.set(new URL(url).host, new URL(await proxy.open()));
    }
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    await servers.stop();
  });
  beforeEach(async () => {
    at = place(routes);
    store = redisStore(at);
    await store.open();
    await look();
  });
  afterEach(async () => {
    await store.close();
    if ("client" in at) at.client.disconnect();
  });

  async function look(): Promise<void> {
    await store.lease(leaseRequest(1, { queues: QUEUES }));
  }

  /** As an engine does: again until it is answered. */
  async function answered(): Promise<void> {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        await pause(20);
      }
    }
  }

  async function soon(promise: Promise<unknown>): Promise<void> {
    const isDone = promise.then(() => true);
    expect(await Promise.race([isDone, pause(SOON_MS, false)])).toBe(true);
  }

  it("calls are answered soon after replies began to be lost", async () => {
    for (const proxy of proxies) proxy.deafen();
    await soon(answered());
  });

  it("calls are answered soon after a network that swallowed them has healed", async () => {
    for (const proxy of proxies) proxy.set("hole");
    const lost = look().catch(() => {});
    await pause(100);
    for (const proxy of proxies) proxy.set("open");
    await soon(answered());
    await lost;
  });

  it("calls are answered soon after a network that swallowed greetings has healed", async () => {
    for (const proxy of proxies) proxy.set("hole");
    for (const proxy of proxies) proxy.cut();
    const calls = answered();
    // Until they have tried again, and nobody has answered.
    await pause(700);
    for (const proxy of proxies) proxy.set("open");
    await soon(calls);
  });

  it("calls wait for a server that is only slow to answer", async () => {
    const job = newJob({ queue: QUEUES[0]! });
    for (const { url } of servers.nodes) {
      const admin = new Redis(url);
      await admin.client("PAUSE", SOON_MS, "ALL");
      admin.disconnect();
    }
    const beganAt = performance.now();
    expect(await store.insert([job])).toMatchObject([{ outcome: "added" }]);
    expect(performance.now() - beganAt).toBeGreaterThan(SOON_MS / 2);
  });

  it("wakeups of others are heard again, though the listener had nothing to say", async () => {
    const other = redisStore({ url: servers.nodes[0]!.url });
    await other.open();
    for (const proxy of proxies) proxy.deafen();
    const heard = new Promise((resolve) => store.onWakeup(resolve));
    while (!(await Promise.race([heard.then(() => true), pause(100, false)]))) {
      await other.insert([newJob({ queue: QUEUES[1]! })]);
      await other.lease(leaseRequest(50, { queues: QUEUES }));
    }
    await other.close();
  });
});
