/** The settings that decide what an acknowledgement survives, as the server reports them. */
import { Redis } from "ioredis";

export async function describeRedis(place: string): Promise<string> {
  const redis = new Redis(place);
  const version = /redis_version:(\S+)/.exec(await redis.info("server"))?.[1] ?? "unknown";
  const [, fsync] = (await redis.config("GET", "appendfsync")) as string[];
  await redis.quit();
  return `Redis ${version}, appendfsync ${fsync}`;
}
