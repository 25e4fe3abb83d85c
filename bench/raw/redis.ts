/**
 * The ceiling: the work of a job queue as a careful programmer would write it by hand on Redis, and
 * nothing else: three Lua scripts, a batch a call. Its rates are what a queue with these promises
 * could reach at most; Holdfast's are reported as a share of them.
 *
 * It keeps what makes a queue safe: a UUIDv7 id that cannot be stored twice, an order by priority and
 * age, leases with owner, end and fence, a set that finds the leases that ran out, a count of attempts,
 * a settle that checks the fence, finished jobs kept, the server's clock. It leaves out the rest:
 * queues, groups and fair turns, holds and caps, retries, delays, keys, counts, results, events,
 * wakeups, a settle that may be repeated, retention.
 *
 * Keys: `raw:b` bodies by id, `raw:h` "attempts:fence:worker" by id, `raw:r` what is ready, by place,
 * `raw:a` what is leased, by the end of the lease, `raw:f` what is finished, `raw:s` the last place.
 */
import { Redis } from "ioredis";
import { uuidV7Text } from "./uuid-v7.ts";

export interface RawLease {
  readonly id: string;
  readonly fence: string;
  readonly payload: string;
}

/** ARGV: priority, then id and payload of each job. */
const INSERT = `#!lua
local count = (#ARGV - 1) / 2
local place = redis.call("INCRBY", "raw:s", count) - count + tonumber(ARGV[1]) * 1099511627776
for i = 1, count do
  if redis.call("HSETNX", "raw:b", ARGV[2 * i], ARGV[2 * i + 1]) == 1 then
    redis.call("ZADD", "raw:r", place + i, ARGV[2 * i])
  end
end
return count`;

/** ARGV: how many, worker, lease length in ms. Returns the fence, then id and payload of each job. */
const LEASE = `#!lua
local popped = redis.call("ZPOPMIN", "raw:r", ARGV[1])
if #popped == 0 then return {} end
local ids = {}
for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local bodies = redis.call("HMGET", "raw:b", unpack(ids))
local headers = redis.call("HMGET", "raw:h", unpack(ids))
local reply, written, ends = {}, {}, {}
local till = math.floor(now / 1000) + tonumber(ARGV[3])
for i, id in ipairs(ids) do
  local attempts, last = 0, 0
  if headers[i] then
    local a, f = string.match(headers[i], "^(%d+):(%d+):")
    attempts, last = tonumber(a), tonumber(f)
  end
  local fence = string.format("%.0f", math.max(now, last + 1))
  written[2 * i - 1], written[2 * i] = id, (attempts + 1) .. ":" .. fence .. ":" .. ARGV[2]
  ends[2 * i - 1], ends[2 * i] = till, id
  reply[3 * i - 2], reply[3 * i - 1], reply[3 * i] = id, fence, bodies[i]
end
redis.call("HSET", "raw:h", unpack(written))
redis.call("ZADD", "raw:a", unpack(ends))
return reply`;

/** ARGV: worker, whether finished jobs are kept, then id and fence of each job. Returns how many. */
const SETTLE = `#!lua
local mine = {}
for i = 3, #ARGV, 2 do
  local header = redis.call("HGET", "raw:h", ARGV[i])
  if header and string.sub(header, string.find(header, ":", 1, true) + 1) == ARGV[i + 1] .. ":" .. ARGV[1] then
    mine[#mine + 1] = ARGV[i]
  end
end
if #mine == 0 then return 0 end
local settled = redis.call("ZREM", "raw:a", unpack(mine))
if ARGV[2] == "1" then
  redis.call("RPUSH", "raw:f", unpack(mine))
else
  redis.call("HDEL", "raw:b", unpack(mine))
  redis.call("HDEL", "raw:h", unpack(mine))
end
return settled`;

const PRIORITY = "100";
const LEASE_MS = "10000";

export class RawRedisLoop {
  readonly redis: Redis;
  readonly #worker = `raw-${process.pid}`;
  readonly #shas: Readonly<Record<"insert" | "lease" | "settle", string>>;

  private constructor(redis: Redis, [insert, lease, settle]: readonly [string, string, string]) {
    this.redis = redis;
    this.#shas = { insert, lease, settle };
  }

  static async open(url: string): Promise<RawRedisLoop> {
    const redis = new Redis(url);
    const load = async (lua: string): Promise<string> => String(await redis.script("LOAD", lua));
    return new RawRedisLoop(redis, [await load(INSERT), await load(LEASE), await load(SETTLE)]);
  }

  async insert(payloads: readonly string[]): Promise<void> {
    const now = Date.now();
    const pairs = payloads.flatMap((payload) => [uuidV7Text(now), payload]);
    await this.#run("insert", [PRIORITY, ...pairs]);
  }

  async lease(limit: number): Promise<RawLease[]> {
    const reply = (await this.#run("lease", [String(limit), this.#worker, LEASE_MS])) as string[];
    const leases: RawLease[] = [];
    for (let at = 0; at + 2 < reply.length; at += 3) {
      const [id, fence, payload] = reply.slice(at, at + 3) as [string, string, string];
      leases.push({ id, fence, payload });
    }
    return leases;
  }

  /** Whoever lost the lease changes nothing and is not counted. */
  async settle(leases: readonly RawLease[], { keep }: { readonly keep: boolean }): Promise<number> {
    const pairs = leases.flatMap(({ id, fence }) => [id, fence]);
    return Number(await this.#run("settle", [this.#worker, keep ? "1" : "0", ...pairs]));
  }

  async close(): Promise<void> {
    await this.redis.quit();
  }

  // The one key is named for form's sake: all are of one server.
  #run(script: "insert" | "lease" | "settle", args: readonly string[]): Promise<unknown> {
    return this.redis.evalsha(this.#shas[script], 1, "raw:b", ...args);
  }
}
