/**
 * Places for jobs on the shared Redis servers: a prefix of its own for each, so that files run in
 * parallel, and a clock that stands still until it is moved.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Cluster, Redis } from "ioredis";
import { redisStore, type ClientLike } from "../../packages/holdfast/src/stores/redis/index.ts";
import { serverUrl } from "./server-desk.ts";

export interface RedisHouse {
  readonly client: Redis | Cluster;
  close(): Promise<void>;
}

/** A client for a test file. */
export async function redisHouse(server: "redis" | "redis-cluster"): Promise<RedisHouse> {
  const url = await serverUrl(server);
  const client = server === "redis" ? new Redis(url) : new Cluster([url]);
  return { client, close: async () => client.disconnect() };
}

/** An empty place, for the conformance suite and the property test. `through`: the client that the store uses. */
export async function redisPlace({ client }: RedisHouse, through: ClientLike = client) {
  const prefix = `test_${randomBytes(6).toString("hex")}`;
  // Far from the host's own clock, so that whoever looks at that one is found out.
  let now = Date.UTC(2031, 0, 1);
  return {
    prefix,
    /** What the keys of a queue begin with. */
    base: (queue: string) => `{${prefix}:${queue}}:`,
    open: async () => redisStore({ client: through, prefix, now: () => now }),
    advance: async (ms: number) => void (now += ms),
    rewind: async (ms: number) => void (now -= ms),
    async dispose() {
      const found = await allKeys(client, prefix);
      await checkStanding(client, found);
      for (const key of found) await client.unlink(key);
    },
  };
}

export async function allKeys(client: Redis | Cluster, prefix: string): Promise<string[]> {
  const nodes = client instanceof Cluster ? client.nodes("master") : [client];
  const found: string[] = [];
  for (const node of nodes) {
    let cursor = "0";
    do {
      const [next, keys] = await node.scan(cursor, "MATCH", `{${prefix}*`, "COUNT", 1_000);
      found.push(...keys);
      cursor = next;
    } while (cursor !== "0");
  }
  return [...new Set(found)];
}

/** Every job stands in exactly one place, and every line with ready jobs in the ring. */
async function checkStanding(client: Redis | Cluster, keys: readonly string[]): Promise<void> {
  for (const base of keys.filter((key) => key.endsWith("}:i")).map((key) => key.slice(0, -1))) {
    const listed = (await client.zrange(`${base}i`, "0", "-1")).sort();
    const lines = keys.filter((key) => key.startsWith(`${base}r:`));
    const places = [...lines, ...["d", "a", "f:s", "f:d", "f:c"].map((name) => base + name)];
    const standing: string[] = [];
    for (const place of places) {
      standing.push(...(await client.zrange(place, "0", "-1")).map((member) => member.slice(14)));
    }
    assert.deepEqual(standing.sort(), listed, "every job stands in one place");
    assert.deepEqual((await client.hkeys(`${base}h`)).sort(), listed, "every job has a header");
    assert.deepEqual((await client.hkeys(`${base}b`)).sort(), listed, "every job has a body");
    const ring: string[] = [];
    for (const name of ["g", "gc", "gp", "gpc", "gf", "gr"])
      ring.push(...(await client.zrange(base + name, "0", "-1")));
    const groups = lines.map((key) => key.slice(base.length + 2));
    assert.deepEqual(ring.sort(), groups.sort(), "every line with ready jobs is in the ring");
  }
}
