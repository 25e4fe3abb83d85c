/**
 * BullMQ's keys: `bull:<queue>:wait`, `:paused`, `:prioritized`, `:delayed`, `:failed` hold ids, `bull:<queue>:<id>` is a
 * job, `bull:<queue>:repeat` its job schedulers. Without a priority a job goes before all that have one; the lower
 * number is the first of those.
 */
import type { Redis } from "ioredis";
import { clamp, driver, PAGE } from "./source.ts";
import type { ForeignJob, ForeignSchedule, Left, Source, SourceOptions } from "./source.ts";

const LISTS = ["wait", "paused"] as const;
const SETS = ["prioritized", "delayed", "failed"] as const;
/** The score of a delayed job is its time and a counter in the lowest twelve bits. */
const DELAY_BITS = 0x1000;

type Fields = Readonly<Record<string, string>>;

export async function bullmq({ url, at = "bull" }: SourceOptions): Promise<Source> {
  const { Redis: Client } = await driver("ioredis", () => import("ioredis"));
  // A server that is away is said at once, not waited for.
  const once = { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null };
  const redis: Redis = new Client(url, once);
  redis.on("error", () => {});
  const queues = await reached(redis, at).catch((error: unknown) => {
    // Left open it would keep this process alive.
    redis.disconnect();
    throw error;
  });
  const key = (queue: string, name: string) => `${at}:${queue}:${name}`;
  const sum = async (of: (queue: string) => Promise<number>) =>
    (await Promise.all(queues.map(of))).reduce((total, one) => total + one, 0);

  async function* jobs(): AsyncGenerator<readonly ForeignJob[]> {
    for (const queue of queues) {
      for (const name of LISTS) {
        // New ones are pushed on the left, the right end is the next to run.
        const length = await redis.llen(key(queue, name));
        for (let end = length; end > 0; end -= PAGE) {
          const ids = await redis.lrange(key(queue, name), Math.max(0, end - PAGE), end - 1);
          yield await read(
            queue,
            ids.toReversed().map((id) => ({ id, at: null })),
            "queued",
          );
        }
      }
      for (const name of SETS) {
        for (let from = 0; ; from += PAGE) {
          const found = await ranged(redis, key(queue, name), [from, from + PAGE - 1]);
          if (found.length === 0) break;
          const ids = found.map(([id, score]) => ({
            id,
            at: name === "delayed" ? Math.floor(score / DELAY_BITS) : null,
          }));
          yield await read(queue, ids, name === "failed" ? "dead" : "queued");
        }
      }
    }
  }

  async function read(
    queue: string,
    ids: readonly { readonly id: string; readonly at: number | null }[],
    status: ForeignJob["status"],
  ): Promise<readonly ForeignJob[]> {
    const pipeline = redis.pipeline();
    for (const { id } of ids) pipeline.hgetall(key(queue, id));
    const found = (await pipeline.exec()) ?? [];
    return ids.flatMap(({ id, at: due }, index) => {
      const fields = (found[index]?.[1] ?? {}) as Fields;
      if (fields["name"] === undefined || (due !== null && isNextTick(fields))) return [];
      return [jobOf({ queue, id, fields, status, due })];
    });
  }

  return {
    running: () => sum((queue) => redis.llen(key(queue, "active"))),
    jobs,
    async schedules() {
      const all = await Promise.all(queues.map((queue) => schedulesOf(redis, key, queue)));
      return all.flat();
    },
    async left(): Promise<readonly Left[]> {
      const waiting = await sum((queue) => redis.zcard(key(queue, "waiting-children")));
      return [{ what: "parents that wait for their children", count: waiting }];
    },
    close: async () => redis.disconnect(),
  };
}

/** The schedule makes it here. One that has been tried waits for its retry: that is a job as any other. */
export function isNextTick(fields: Fields): boolean {
  const { rjk, processedOn, atm = "0", attemptsMade = "0" } = fields;
  return rjk !== undefined && processedOn === undefined && Number(atm) + Number(attemptsMade) === 0;
}

async function reached(redis: Redis, prefix: string): Promise<readonly string[]> {
  await redis.connect();
  return queuesOf(redis, prefix);
}

async function queuesOf(redis: Redis, prefix: string): Promise<readonly string[]> {
  const found = new Set<string>();
  const pattern = `${prefix.replaceAll(/[*?[\]\\]/g, "\\$&")}:*:meta`;
  let cursor = "0";
  do {
    const [next, keys] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000);
    for (const key of keys) found.add(key.slice(prefix.length + 1, -":meta".length));
    cursor = next;
  } while (cursor !== "0");
  return [...found].toSorted();
}

function jobOf(given: {
  readonly queue: string;
  readonly id: string;
  readonly fields: Fields;
  readonly status: ForeignJob["status"];
  readonly due: number | null;
}): ForeignJob {
  const { queue, id, fields, status, due } = given;
  const options = parsed(fields["opts"]) as { readonly attempts?: number } | null;
  const attempts = Number(fields["atm"] ?? fields["attemptsMade"] ?? 0);
  const allowed = Math.max(1, options?.attempts ?? 1);
  // The same in every run: the id here has it, and by the id a job is not taken twice.
  const createdAt = Number(fields["timestamp"] ?? 0);
  const priority = Number(fields["priority"] ?? 0);
  const stack = (parsed(fields["stacktrace"]) as readonly string[] | null)?.at(-1) ?? null;
  return {
    ...{ key: `${queue}/${id}`, type: fields["name"] ?? "", queue, group: null, status },
    payload: parsed(fields["data"]),
    priority: priority === 0 ? 100 : clamp(100 + priority),
    attempts,
    maxAttempts: Math.max(allowed, status === "dead" ? attempts : attempts + 1),
    ...{ createdAt, runAt: due ?? createdAt },
    startedAt: numberOf(fields["processedOn"]),
    finishedAt: status === "dead" ? (numberOf(fields["finishedOn"]) ?? createdAt) : null,
    error: fields["failedReason"] === undefined ? null : { message: fields["failedReason"], stack },
  };
}

async function schedulesOf(
  redis: Redis,
  key: (queue: string, name: string) => string,
  queue: string,
): Promise<readonly ForeignSchedule[]> {
  const found = await ranged(redis, key(queue, "repeat"), [0, -1]);
  const all: ForeignSchedule[] = [];
  for (const [id, next] of found) {
    const fields: Fields = await redis.hgetall(key(queue, `repeat:${id}`));
    all.push({
      ...{ name: id, type: fields["name"] ?? id, queue, payload: parsed(fields["data"]) ?? {} },
      ...{ cron: fields["pattern"] ?? null, timeZone: fields["tz"] ?? null },
      everyMs: numberOf(fields["every"]),
      startAfterMs: Math.max(0, next - Date.now()),
      isPaused: false,
    });
  }
  return all;
}

/** Members with their scores: in pairs or in a row, as the client's protocol has it. */
async function ranged(
  redis: Redis,
  key: string,
  [from, to]: readonly [number, number],
): Promise<(readonly [string, number])[]> {
  const found = await redis.call("ZRANGE", key, String(from), String(to), "WITHSCORES");
  const flat = (found as unknown[]).flat().map(String);
  return Array.from({ length: flat.length / 2 }, (_, at) => [
    flat[at * 2] ?? "",
    Number(flat[at * 2 + 1]),
  ]);
}

function numberOf(text: string | undefined): number | null {
  return text === undefined || text === "" ? null : Number(text);
}

function parsed(text: string | undefined): unknown {
  if (text === undefined || text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
