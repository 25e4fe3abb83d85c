/**
 * A planned failover behind an address that follows the primary, as a host's name or a virtual address does.
 * The old primary lives on as a replica and cuts no connection.
 */
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultProxy } from "../../../../../test/servers/fault-proxy.ts";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { Holdfast, type Receipt } from "../../index.ts";
import { redisStore, type RedisPlace } from "./index.ts";

const HEALED_WITHIN_MS = 10_000;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let primary: OwnRedis;
let replica: OwnRedis;
let address: FaultProxy;
let url: string;
beforeEach(async () => {
  const settings = ["--repl-diskless-sync-delay", "0"];
  primary = await startOwnRedis({ settings });
  replica = await startOwnRedis({
    settings: [...settings, "--replicaof", "127.0.0.1", String(primary.port)],
  });
  address = new FaultProxy(primary.url);
  url = await address.open();
  // The replica says so a moment before its primary does.
  await told(replica, (info) => info.includes("master_link_status:up"));
  await told(primary, (info) => info.includes("state=online"));
});
afterEach(async () => {
  await address.close();
  await replica.stop();
  await primary.stop();
});

/** A server tells nobody when its role has changed: it is asked until it has. */
async function told(server: OwnRedis, isSo: (info: string) => boolean): Promise<void> {
  const admin = new Redis(server.url);
  while (!isSo(await admin.info("replication"))) await new Promise(setImmediate);
  admin.disconnect();
}

async function failOver(): Promise<void> {
  const admin = new Redis(primary.url);
  await admin.call("FAILOVER", "TO", "127.0.0.1", replica.port);
  await told(replica, (info) => info.includes("role:master"));
  address.lead(replica.url);
  admin.disconnect();
}

async function goesOnAfterFailover(place: RedisPlace): Promise<void> {
  const hf = new Holdfast({ store: redisStore(place), logger: silent });
  hf.define({ type: "note", queue: "mail", async run() {} });
  const worker = await hf.work({ queues: ["mail"] });
  const before = await hf.enqueue("note", 1);
  expect(await hf.waitFor(before)).toMatchObject({ status: "succeeded" });
  await failOver();
  const healBy = performance.now() + HEALED_WITHIN_MS;
  let after: Receipt | null = null;
  while (after === null) {
    expect(performance.now(), "the primary is found again in time").toBeLessThan(healBy);
    after = await hf.enqueue("note", 2).catch((error: unknown) => {
      if (error instanceof StoreUnavailableError) return null;
      throw error;
    });
  }
  const ended = await hf.waitFor(after, { timeoutMs: HEALED_WITHIN_MS });
  expect(ended).toMatchObject({ status: "succeeded" });
  await worker.stop({ graceMs: 0 });
  await hf.close();
}

describe("after a planned failover behind one address", () => {
  it("a store by URL finds the new primary, and workers go on", async () => {
    await goesOnAfterFailover({ url });
  }, 60_000);

  it("so does a store on a client of the caller's own", async () => {
    const client = new Redis(url, {
      ...{ autoResendUnfulfilledCommands: false, enableOfflineQueue: false },
      maxRetriesPerRequest: 0,
    });
    client.on("error", () => {});
    await goesOnAfterFailover({ client });
    client.disconnect();
  }, 60_000);
});
