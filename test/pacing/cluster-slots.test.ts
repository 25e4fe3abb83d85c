/** The shards of a Redis Cluster, looked at where their keys are. */
import { Cluster } from "ioredis";
import { expect, it } from "vitest";
import { deriveShard, Pacing } from "@holdfast/pacing";
import { Holdfast } from "holdfast";
import { makePaced, openPaced } from "./paced-places.ts";

const SHARDS = 4;
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

it("shards lie in different slots of a cluster, and on more than one of its nodes", async () => {
  const { place } = await makePaced("redis-cluster", "");
  if (place.name !== "redis-cluster") throw new Error("not a cluster");
  const hf = new Holdfast({ store: await openPaced(place), logger }) as Holdfast;
  const pacing = new Pacing(hf, { shards: SHARDS, create: quiet, act: quiet });
  const worker = await pacing.work();
  const ids = new Map<number, string>();
  for (let at = 0; ids.size < SHARDS; at += 1)
    ids.set(deriveShard(`sim-${at}`, SHARDS), `sim-${at}`);
  for (const id of ids.values()) {
    // All in the future: the jobs of the first segment wait in their queues.
    await pacing.create({
      id,
      records: 5,
      start: new Date(Date.now() + 600_000),
      durationMs: 60_000,
    });
    await pacing.start(id);
  }
  const queues = Array.from({ length: SHARDS }, (_, shard) => `simulation-jobs:${shard}`);
  const filled = async () => {
    const counts = await hf.counts();
    return queues.filter((queue) => counts[queue]?.delayed === 5);
  };
  await expect.poll(filled, { timeout: 20_000 }).toEqual(queues);

  const { hostname, port } = new URL(place.url.split(",")[0]!);
  const cluster = new Cluster([{ host: hostname, port: Number(port) }]);
  await cluster.ping();
  const slots = new Map<string, Set<number>>();
  const nodes = new Set<string>();
  for (const node of cluster.nodes("master")) {
    for (const key of await node.keys(`{${place.prefix}:simulation-jobs:*`)) {
      const [, queue = ""] = /:(simulation-jobs:\d+)\}/.exec(key) ?? [];
      const slot = Number(await node.call("CLUSTER", "KEYSLOT", key));
      slots.set(queue, (slots.get(queue) ?? new Set()).add(slot));
      nodes.add(String(node.options.port));
    }
  }
  expect([...slots.keys()].toSorted()).toEqual(queues);
  // One slot for a shard, and another for each.
  for (const [queue, of] of slots) expect(of.size, queue).toBe(1);
  expect(new Set([...slots.values()].flatMap((of) => [...of])).size).toBe(SHARDS);
  expect(nodes.size).toBeGreaterThan(1);
  cluster.disconnect();
  await worker.stop();
  await hf.close();
});
