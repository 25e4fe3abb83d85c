/**
 * What a simulation of ten million records over 60 days costs: how long `start` takes to answer, how many jobs are in
 * the store at most, how much memory the process has. `npm run bench:pacing [-- --records 10000000 --segments 5]`.
 *
 * On SQLite, by the clock of the store, which goes on three minutes at a time. As many segments as are
 * asked for are run, record by record; at any later moment the store holds no more than it does then.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Holdfast } from "../packages/holdfast/src/index.ts";
import { sqliteStore } from "../packages/holdfast/src/stores/sqlite/index.ts";
import { Pacing } from "../packages/pacing/src/index.ts";

const { values } = parseArgs({
  options: { records: { type: "string" }, segments: { type: "string" } },
});
const records = Number(values.records ?? 10_000_000);
const segments = Number(values.segments ?? 5);
const HOUR_MS = 3_600_000;
const DAYS = 60;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const folder = await mkdtemp(join(tmpdir(), "holdfast-pacing-"));
let now = Date.UTC(2026, 2, 2);
const store = sqliteStore({ file: join(folder, "jobs.db"), now: () => now });
const hf = new Holdfast({ store, logger: quiet, retention: { succeeded: { maxAgeMs: 0 } } });
let created = 0;
const pacing = new Pacing(hf, { create: () => void (created += 1), outbound: false });

const plan = { id: "big", records, start: new Date(now), durationMs: DAYS * 24 * HOUR_MS };
const planMs = await timed(() => pacing.create(plan));
const startMs = await timed(() => pacing.start("big"));
console.log(
  `${records} records over ${DAYS} days: planned in ${planMs} ms, started in ${startMs} ms`,
);
await pacing.work({ concurrency: 100, pollMs: 20 });
let beganAt = performance.now();
for (let done = 0; done < segments;) {
  await pause(200);
  const { segments: seen } = await pacing.metrics("big");
  if (seen.complete === done) {
    now += HOUR_MS / 20;
    continue;
  }
  const tookMs = performance.now() - beganAt;
  const counts = Object.values(await hf.counts());
  const waiting = counts.reduce((sum, { ready, delayed }) => sum + ready + delayed, 0);
  globalThis.gc?.();
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1024 / 1024);
  console.log(
    `${seen.complete} segments: ${created} records, ${waiting} jobs wait, heap ${heapMb} MB, ${Math.round(tookMs / 1000)} s`,
  );
  done = seen.complete;
  beganAt = performance.now();
}
await hf.close();
await rm(folder, { recursive: true, force: true, maxRetries: 3 });

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return Math.round(performance.now() - from);
}
