/** Acknowledgements that wait for a replica. */
import { once } from "node:events";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { redisStore } from "./index.ts";

let primary: OwnRedis;
let replica: OwnRedis;
beforeAll(async () => {
  primary = await startOwnRedis({ settings: ["--repl-diskless-sync-delay", "0"] });
  replica = await startOwnRedis({ settings: ["--replicaof", "127.0.0.1", String(primary.port)] });
});
afterAll(async () => {
  await replica.stop();
  await primary.stop();
});

async function inSync(admin: Redis): Promise<void> {
  for (;;) {
    const info = await admin.info("replication");
    if (info.includes("state=online")) return;
    await admin.set("ping", "1");
  }
}

describe("wait", () => {
  it("acknowledges what a replica has, and says of the rest that it may have happened", async () => {
    const admin = new Redis(primary.url);
    await once(admin, "ready");
    await inSync(admin);
    const wait = { replicas: 1, timeoutMs: 2_000 };
    const store = redisStore({ url: primary.url, wait });
    await store.open();
    expect(await store.insert([newJob()])).toMatchObject([{ outcome: "added" }]);
    await replica.halt("kill");
    const doubtful = newJob();
    const failure: unknown = await store.insert([doubtful]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ mayHaveHappened: true });
    await store.close();
    const other = redisStore({ url: primary.url });
    await other.open();
    expect(await other.insert([doubtful])).toMatchObject([{ outcome: "duplicate" }]);
    await other.close();
    admin.disconnect();
  });
});
