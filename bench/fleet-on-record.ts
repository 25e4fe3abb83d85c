/**
 * The records of a fleet of so many processes that has worked for an hour: a worker record and two minutes of
 * statistics of each, and the minutes before as the fleet's. Twenty types in five queues.
 */
import type { Store } from "../packages/holdfast/src/index.ts";
import {
  liveKey,
  MINUTE_MS,
  minuteKey,
} from "../packages/holdfast/src/control/stats/stats-records.ts";
import { Tally } from "../packages/holdfast/src/control/stats/tally.ts";
import { seededRandom } from "../packages/holdfast/src/testing/seeded-random.ts";

const TYPES = 20;
const QUEUES = 5;
const PER_SERIES = 50;
const LIVE_MINUTES = 2;
const MERGED_MINUTES = 55;
const AT_ONCE = 20;

export interface FleetOnRecord {
  /** What the statistics of the last hour must say. */
  readonly succeeded: number;
  remove(): Promise<void>;
}

export async function fleetOnRecord(store: Store, processes: number): Promise<FleetOnRecord> {
  const minute = Math.floor((await store.now()) / MINUTE_MS);
  const names = Array.from({ length: processes }, (_, at) => `host-${at}:${1_000 + at}:${at}`);
  const rows = JSON.stringify(tallyOf().rows());
  const values = new Map<string, string>();
  for (const name of names) {
    values.set(`holdfast/workers/process/${name}`, JSON.stringify(processOf(name)));
    for (let back = 0; back < LIVE_MINUTES; back += 1) {
      values.set(liveKey(minute - back, name), rows);
    }
  }
  for (let back = LIVE_MINUTES; back < LIVE_MINUTES + MERGED_MINUTES; back += 1) {
    values.set(minuteKey(minute - back), `{"by":${JSON.stringify(names)},"rows":${rows}}`);
  }
  const swaps = [...values].map(([key, value]) => ({ key, expect: null, value, ttlMs: null }));
  const versions = new Map<string, number | null>();
  for (let from = 0; from < swaps.length; from += AT_ONCE) {
    const some = swaps.slice(from, from + AT_ONCE);
    const results = await store.records.swap(some);
    results.forEach((result, at) => {
      if (!result.swapped) throw new Error("a record of the fleet was there already");
      versions.set(some[at]!.key, result.version);
    });
  }
  const parts = processes * LIVE_MINUTES + MERGED_MINUTES;
  return {
    succeeded: parts * TYPES * PER_SERIES,
    async remove() {
      const deletions = [...versions].map(([key, expect]) => ({
        key,
        expect,
        value: null,
        ttlMs: null,
      }));
      for (let from = 0; from < deletions.length; from += AT_ONCE) {
        await store.records.swap(deletions.slice(from, from + AT_ONCE));
      }
    },
  };
}

function tallyOf(): Tally {
  const random = seededRandom(7);
  const tally = new Tally();
  for (let type = 0; type < TYPES; type += 1) {
    const series = tally.series(`queue-${type % QUEUES}`, `type-${type}`);
    series.succeeded += PER_SERIES;
    for (let one = 0; one < PER_SERIES; one += 1) {
      series.wait.add(2 + 200 * random() ** 3);
      series.run.add(20 + 2_000 * random() ** 3);
    }
  }
  return tally;
}

function processOf(name: string): object {
  const now = Date.now();
  const queues = Array.from({ length: QUEUES }, (_, at) => `queue-${at}`);
  const worker = { id: `${name}.w`, queues, types: [], concurrency: 10, leaseMs: 10_000 };
  return {
    ...{ id: name, host: name.split(":")[0], pid: 1, version: null, startedAt: now, seenAt: now },
    ...{ loopDelayMs: 3, memoryBytes: 1e8 },
    workers: [{ ...worker, active: 0, running: [], isQuiet: false }],
  };
}
