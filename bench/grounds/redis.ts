/**
 * A Redis server of the run's own, with its log on, and a numbered database for each place. There is
 * no way to copy a database, so a filled place is filled anew for each measurement.
 */
import { Redis } from "ioredis";
import { startOwnRedis } from "../../test/servers/redis.ts";
import type { Ground, Site, SiteOptions } from "../ground.ts";

/** More than a run has open at once; database 0 says which are taken. */
const DATABASES = 64;
const TAKEN = "bench:taken";
const SHOWN = ["appendonly", "appendfsync", "maxmemory-policy"];

export async function openRedis({ folder, appendfsync }: SiteOptions): Promise<Site> {
  // That is where servers of our own put their data.
  process.env["TMPDIR"] = folder;
  const server = await startOwnRedis({
    settings: ["--appendfsync", appendfsync, "--databases", String(DATABASES)],
  });
  const redis = new Redis(server.url);
  const version = /redis_version:(\S+)/.exec(await redis.info("server"))?.[1] ?? "unknown";
  const settings: string[] = [];
  for (const name of SHOWN)
    settings.push(((await redis.config("GET", name)) as string[]).join(" "));
  await redis.quit();
  const facts = `Redis ${version}, ${settings.join(", ")}`;
  if (!facts.includes(`appendonly yes, appendfsync ${appendfsync}`)) {
    await server.stop();
    throw new Error(`the server is not set up as asked: ${facts}`);
  }
  return { address: server.url, facts, close: () => server.stop() };
}

export function redisGround(address: string): Ground {
  const redis = new Redis(address);
  return {
    async make() {
      for (let number = 1; number < DATABASES; number++) {
        if ((await redis.sadd(TAKEN, number)) === 1) return `${address}/${number}`;
      }
      throw new Error("all databases of the server are taken");
    },
    async remove(place) {
      const inside = new Redis(place);
      await inside.flushdb("SYNC");
      await inside.quit();
      await redis.srem(TAKEN, new URL(place).pathname.slice(1));
    },
    async close() {
      await redis.quit();
    },
  };
}
