/**
 * `npm run chaos:failover`: what a failover of Redis costs, as it is. Replication is asynchronous, so
 * this is a report and no verdict: acknowledged jobs that the promoted replica does not have, and jobs
 * that were acknowledged as finished and wait there again. Without `wait` and with it.
 *
 * The replica follows through a proxy that delays everything, as another zone would. Producers and a
 * worker are busy when the primary is killed (kill -9); then the replica is promoted and looked at.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { Holdfast, type Store } from "../../packages/holdfast/src/index.ts";
import type { StoredJob } from "../../packages/holdfast/src/core/job.ts";
import { redisStore } from "../../packages/holdfast/src/stores/redis/index.ts";
import { FaultProxy } from "../servers/fault-proxy.ts";
import { startOwnRedis } from "../servers/redis.ts";

const FAILOVERS = 10;
const PRODUCERS = 100;
const LOAD_MS = 1_000;
const ZONE_DELAY_MS = 5;
const SETTINGS = ["--appendonly", "yes", "--appendfsync", "everysec"];
const LOOK_AT_ONCE = 500;

type Wait = { readonly replicas: number; readonly timeoutMs: number };

interface Losses {
  acknowledged: number;
  lost: number;
  finished: number;
  cameBack: number;
}

async function failOver(wait: Wait | undefined): Promise<Losses> {
  const primary = await startOwnRedis({
    settings: [...SETTINGS, "--repl-diskless-sync-delay", "0"],
  });
  const zone = new FaultProxy(primary.url);
  const { port } = new URL(await zone.open());
  const replica = await startOwnRedis({
    settings: [...SETTINGS, "--replicaof", "127.0.0.1", port],
  });
  try {
    await inSync(primary.url);
    zone.slow(ZONE_DELAY_MS);
    const load = await runLoad(primary.url, wait);
    await pause(LOAD_MS);
    const halting = primary.halt("kill");
    // The machine goes with the process: what is still on the way does not arrive.
    zone.set("hole");
    await halting;
    const { acknowledged, finished } = await load.stop();
    await promote(replica.url);
    return await compare(replica.url, { acknowledged, finished });
  } finally {
    await zone.close();
    await replica.stop();
    await primary.stop();
  }
}

interface Told {
  readonly acknowledged: ReadonlySet<string>;
  readonly finished: ReadonlySet<string>;
}

async function runLoad(url: string, wait: Wait | undefined): Promise<{ stop(): Promise<Told> }> {
  const store = redisStore({ url, deadlineMs: 1_000, ...(wait && { wait }) });
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const hf = new Holdfast({ store, logger: quiet });
  const acknowledged = new Set<string>();
  const finished = new Set<string>();
  const job = hf.define({ type: "count", run: () => {} });
  hf.on("succeeded", ({ id }) => finished.add(id));
  const worker = await hf.work({ concurrency: 50 });
  let isOver = false;
  const producers = Array.from({ length: PRODUCERS }, async () => {
    while (!isOver) {
      const receipt = await job.enqueue({}).catch(() => null);
      if (receipt !== null) acknowledged.add(receipt.id);
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(producers);
      await worker.stop({ graceMs: 100 }).catch(() => {});
      await hf.close().catch(() => {});
      return { acknowledged, finished };
    },
  };
}

async function compare(url: string, { acknowledged, finished }: Told): Promise<Losses> {
  const store = redisStore({ url });
  await store.open();
  const losses = {
    ...{ acknowledged: acknowledged.size, lost: 0 },
    ...{ finished: finished.size, cameBack: 0 },
  };
  for (const ids of inPacks([...new Set([...acknowledged, ...finished])])) {
    for (const { id, status } of await statuses(store, ids)) {
      if (status === null && acknowledged.has(id)) losses.lost += 1;
      if (status !== null && status !== "succeeded" && finished.has(id)) losses.cameBack += 1;
    }
  }
  await store.close();
  return losses;
}

async function statuses(
  store: Store,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly status: string | null }[]> {
  const jobs = await store.get(ids.map((id) => ({ id })));
  return ids.map((id, at) => ({ id, status: statusOf(jobs[at]) }));
}

function statusOf(job: StoredJob | "pruned" | null | undefined): string | null {
  return job == null || job === "pruned" ? null : job.status;
}

function inPacks(ids: readonly string[]): string[][] {
  const packs = Math.ceil(ids.length / LOOK_AT_ONCE);
  return Array.from({ length: packs }, (_, at) =>
    ids.slice(at * LOOK_AT_ONCE, (at + 1) * LOOK_AT_ONCE),
  );
}

async function inSync(url: string): Promise<void> {
  const admin = new Redis(url);
  while (!(await admin.info("replication")).includes("state=online")) await pause(20);
  admin.disconnect();
}

async function promote(url: string): Promise<void> {
  const admin = new Redis(url);
  await admin.call("REPLICAOF", "NO", "ONE");
  admin.disconnect();
}

for (const wait of [undefined, { replicas: 1, timeoutMs: 1_000 }]) {
  const total: Losses = { acknowledged: 0, lost: 0, finished: 0, cameBack: 0 };
  for (let round = 0; round < FAILOVERS; round += 1) {
    const losses = await failOver(wait);
    for (const name of ["acknowledged", "lost", "finished", "cameBack"] as const) {
      total[name] += losses[name];
    }
  }
  const how = wait ? `wait: { replicas: 1, timeoutMs: ${wait.timeoutMs} }` : "no wait";
  console.log(
    `${how}: ${FAILOVERS} failovers, replica ${ZONE_DELAY_MS} ms away; ` +
      `${total.acknowledged} jobs acknowledged, ${total.lost} lost; ` +
      `${total.finished} finished, ${total.cameBack} came back`,
  );
}
