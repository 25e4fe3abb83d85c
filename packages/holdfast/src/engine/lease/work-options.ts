/** What `hf.work` takes, checked and completed. */
import { InvalidOptionError } from "../../core/errors.ts";
import { show } from "../../core/text.ts";
import { checkName } from "../../core/names.ts";
import { checkOptions, checkWhole } from "../../core/option-checks.ts";
import { MAX_SHARDS } from "../../core/shards.ts";

export interface WorkOptions {
  /** Names, or names with weights: `{ mail: 3, default: 1 }`. Default: the queues of all handlers. */
  readonly queues?: readonly string[] | Readonly<Record<string, number>> | undefined;
  /** Of queues that have shards, only these: `[0, 2]`. Default all. */
  readonly shards?: readonly number[] | undefined;
  /** How many jobs run at once. Default 10. */
  readonly concurrency?: number | undefined;
  /** How long a job is this worker's without a renewal. Default 10 s. */
  readonly leaseMs?: number | undefined;
  /** How often leases are renewed. Default 3 s. */
  readonly renewMs?: number | undefined;
  /** Longest wait for work without a wakeup. Default 1 s; idle, up to 5 s where wakeups cross processes. */
  readonly pollMs?: number | undefined;
  /** How many bytes of payloads one lease brings at most, the first job aside. Default 8 MiB. */
  readonly leaseBytes?: number | undefined;
  /** How long `stop` waits for running jobs unless told otherwise. Default 10 s. */
  readonly graceMs?: number | undefined;
}

export interface WorkSettings {
  /** Queue to weight. */
  readonly queues: ReadonlyMap<string, number>;
  /** Of queues that have shards; null: all of them. */
  readonly shards: readonly number[] | null;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly pollMs: number;
  readonly leaseBytes: number;
  readonly graceMs: number;
}

const OPTIONS = [
  "queues",
  "shards",
  "concurrency",
  "leaseMs",
  "renewMs",
  "pollMs",
  "leaseBytes",
  "graceMs",
];
const MAX_WEIGHT = 1_000;

export function checkWorkOptions(
  options: WorkOptions,
  handledQueues: readonly string[],
): WorkSettings {
  checkOptions("work", options, OPTIONS);
  const leaseMs = checkWhole("leaseMs", options.leaseMs ?? 10_000, { min: 50, max: 3_600_000 });
  const renewMs = checkWhole("renewMs", options.renewMs ?? Math.floor(leaseMs * 0.3), {
    min: 1,
    max: leaseMs,
  });
  if (renewMs > leaseMs / 2) {
    throw new InvalidOptionError(
      `renewMs must be at most half of leaseMs (${leaseMs}), so that one lost renewal loses no lease`,
    );
  }
  return {
    queues: checkQueues(options.queues ?? handledQueues),
    shards: options.shards === undefined ? null : checkShards(options.shards),
    concurrency: checkWhole("concurrency", options.concurrency ?? 10, { min: 1, max: 10_000 }),
    leaseMs,
    renewMs,
    pollMs: checkWhole("pollMs", options.pollMs ?? 1_000, { min: 1, max: 60_000 }),
    leaseBytes: checkWhole("leaseBytes", options.leaseBytes ?? 8 * 1024 * 1024, {
      min: 1,
      max: 1024 * 1024 * 1024,
    }),
    graceMs: checkWhole("graceMs", options.graceMs ?? 10_000, { min: 0, max: 86_400_000 }),
  };
}

/** What a call says counts; a lease that it names is not renewed at the pace of another one. */
export function withDefaults(options: WorkOptions, defaults: WorkOptions): WorkOptions {
  checkOptions("work", options, OPTIONS);
  const { renewMs, ...others } = defaults;
  const said = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  const isOwnLease = options.leaseMs !== undefined || renewMs === undefined;
  return { ...others, ...(!isOwnLease && { renewMs }), ...said };
}

function checkShards(shards: unknown): readonly number[] {
  if (!Array.isArray(shards) || shards.length === 0) {
    throw new InvalidOptionError(
      `shards takes a list of numbers such as [0, 2], not ${show(shards)}`,
    );
  }
  const range = { min: 0, max: MAX_SHARDS - 1 };
  return shards.map((shard) => checkWhole("a number of shards", shard, range));
}

function checkQueues(
  queues: readonly string[] | Readonly<Record<string, number>>,
): ReadonlyMap<string, number> {
  if (typeof queues !== "object" || queues === null) {
    const written = typeof queues === "string" ? `: work({ queues: [${show(queues)}] })` : "";
    throw new InvalidOptionError(
      `queues takes an array of names, or an object of names with weights, not ${show(queues)}${written}`,
    );
  }
  const entries = Array.isArray(queues)
    ? (queues as readonly string[]).map((queue): [string, number] => [queue, 1])
    : Object.entries(queues);
  if (entries.length === 0) {
    throw new InvalidOptionError(
      "this worker has no queue: name some in work({ queues }), or register handlers first",
    );
  }
  for (const [queue, weight] of entries) {
    checkName("queue", queue);
    checkWhole(`the weight of queue "${queue}"`, weight, { min: 1, max: MAX_WEIGHT });
  }
  return new Map(entries);
}
