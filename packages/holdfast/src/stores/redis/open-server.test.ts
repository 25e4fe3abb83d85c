import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisHouse, type RedisHouse } from "../../../../../test/servers/redis-place.ts";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import { serverUrl } from "../../../../../test/servers/server-desk.ts";
import { InvalidOptionError, StoreOpenError, StoreUnavailableError } from "../../core/errors.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { Holdfast } from "../../index.ts";
import { checkRedis, redisStore, type RedisPlace, type RedisStoreOptions } from "./index.ts";

let house: RedisHouse;
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());

describe("redisStore", () => {
  it("takes a place, and says so", () => {
    for (const place of [{}, { url: "postgres://x" }, { client: {} }]) {
      expect(() => redisStore(place as RedisPlace)).toThrow(InvalidOptionError);
    }
  });

  it("refuses options that make no sense", () => {
    const url = "redis://127.0.0.1:1";
    const bad: RedisStoreOptions[] = [
      { url, prefix: "a{b}" },
      { url, prefix: "" },
      { url, deadlineMs: 0 },
      { url, remembersMs: Number.NaN },
      { url, wait: { replicas: 0, timeoutMs: 1 } },
    ];
    for (const options of bad) expect(() => redisStore(options)).toThrow(InvalidOptionError);
  });

  it("opens a server by its URL, and leaves the caller's own client open", async () => {
    const own = redisStore({ url: await serverUrl("redis"), prefix: "opened" });
    await own.open();
    expect(own.info()).toMatchObject({ name: "redis", spawnsElsewhere: "atomic" });
    expect(own.info().version).toMatch(/^(Redis|Valkey) \d/);
    await own.close();
    const theirs = redisStore({ client: house.client, prefix: "opened" });
    await theirs.open();
    await theirs.close();
    expect(await house.client.ping()).toBe("PONG");
  });

  it("finds out by itself that a URL is of a cluster", async () => {
    const store = redisStore({ url: await serverUrl("redis-cluster"), prefix: "opened" });
    await store.open();
    expect(store.info()).toMatchObject({ insertAtomic: "job", spawnsElsewhere: "relayed" });
    const job = newJob();
    await store.insert([job]);
    await store.remove({ ids: [{ id: job.id }] }, { reason: null, by: null });
    await store.close();
  });

  it("refuses a client of one node of a cluster, and waiting for replicas there", async () => {
    const client = new Redis(await serverUrl("redis-cluster"));
    await expect(redisStore({ client }).open()).rejects.toBeInstanceOf(StoreOpenError);
    client.disconnect();
    const wait = { replicas: 1, timeoutMs: 10 };
    const url = await serverUrl("redis-cluster");
    await expect(redisStore({ url, wait }).open()).rejects.toBeInstanceOf(StoreOpenError);
  });

  it("says at once that nobody is there, and that nothing was done", async () => {
    const away = redisStore({ url: "redis://127.0.0.1:1" });
    await expect(away.open()).rejects.toMatchObject({ mayHaveHappened: false });
    await expect(away.open()).rejects.toBeInstanceOf(StoreUnavailableError);
  });
});

describe("a process on a server without persistence", () => {
  it("says at its start that jobs may be lost", async () => {
    const server = await startOwnRedis({ settings: ["--appendonly", "no"] });
    const warnings: string[] = [];
    const logger = {
      debug() {},
      info() {},
      warn: (text: string) => warnings.push(text),
      error() {},
    };
    const hf = new Holdfast({ store: redisStore({ url: server.url }), logger });
    await hf.enqueue("note", 1, { queue: "mail" });
    expect(warnings).toContainEqual(expect.stringMatching(/all jobs are lost/));
    await hf.close();
    await server.stop();
  });

  it("that does not say how it writes its file is said to keep one", async () => {
    const server = await startOwnRedis();
    const admin = new Redis(server.url);
    await admin.call("ACL", "SETUSER", "shy", "on", ">pw", "~*", "&*", "+@all", "-config");
    const url = server.url.replace("redis://", "redis://shy:pw@");
    const check = await checkRedis({ url });
    expect(check.findings.filter(({ level }) => level === "trouble")).toEqual([]);
    expect(check.findings.map(({ message }) => message).join()).toMatch(
      /does not say how it writes/,
    );
    admin.disconnect();
    await server.stop();
  });
});

describe("checking a server", () => {
  it("without saying which is refused in words", async () => {
    const check = checkRedis as (place?: unknown) => Promise<unknown>;
    for (const place of [undefined, null, {}, { url: 5 }]) {
      await expect(check(place)).rejects.toThrow(/checkRedis takes/);
    }
  });
});

describe("what is wrong with a server", () => {
  let server: OwnRedis;
  beforeAll(async () => void (server = await startOwnRedis()));
  afterAll(() => server.stop());

  it("is found: a policy that deletes jobs, no bound of memory, no file", async () => {
    const admin = new Redis(server.url);
    const store = redisStore({ url: server.url });
    await store.open();
    expect(store.info().findings.filter(({ level }) => level === "trouble")).toEqual([]);
    expect(store.info()).toMatchObject({ survives: { processKill: true }, warnings: [] });
    expect(store.info().usedMemoryBytes).toBeGreaterThan(0);
    await store.close();
    await admin.config("SET", "maxmemory-policy", "allkeys-lru");
    await admin.config("SET", "appendonly", "no");
    await store.open();
    const troubles = store
      .info()
      .findings.map(({ message }) => message)
      .join("\n");
    expect(troubles).toMatch(/noeviction/);
    expect(troubles).toMatch(/maxmemory is not set/);
    expect(troubles).toMatch(/appendonly yes/);
    expect(store.info().survives).toMatchObject({ processKill: false, powerLoss: false });
    expect(troubles).toMatch(/all jobs are lost/);
    await admin.config("SET", "save", "3600 1");
    expect((await checkRedis({ url: server.url })).findings).toContainEqual({
      level: "trouble",
      message: expect.stringMatching(/last snapshot/) as unknown,
    });
    await admin.config("SET", "save", "");
    const check = await checkRedis({ url: server.url });
    expect(check).toMatchObject({ isCluster: false, maxMemoryBytes: null });
    expect(check.findings).toEqual(store.info().findings);
    await store.close();
    admin.disconnect();
  });
});
