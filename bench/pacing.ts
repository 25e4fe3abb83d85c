/**
 * What a simulation of ten million records over 60 days costs: how long `start` takes to answer, how many jobs are in
 * the store at most, how much memory the process has. `npm run bench:pacing [-- --records 10000000 --segments 6]`.
 *
 * On virtual time and the memory store. As many segments as are asked for are run, record by record; the store then
 * holds what it would hold at any later moment.
 */
import { parseArgs } from "node:util";
import { Pacing } from "../packages/pacing/src/index.ts";
import { testHoldfast } from "../packages/holdfast/src/testing/index.ts";

const { values } = parseArgs({
  options: { records: { type: "string" }, segments: { type: "string" } },
});
const records = Number(values.records ?? 10_000_000);
const segments = Number(values.segments ?? 6);
const HOUR_MS = 3_600_000;
const DAYS = 60;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const retention = { succeeded: { maxAgeMs: 0 } };
const t = testHoldfast({ logger: quiet, retention, patienceMs: 60_000 });
let created = 0;
const pacing = new Pacing(t.hf, { create: () => void (created += 1), outbound: false });
const heapMb = () => {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1024 / 1024);
};

const planMs = await timed(() =>
  pacing.create({
    ...{ id: "big", records, start: new Date(t.now()), durationMs: DAYS * 24 * HOUR_MS },
    distribution: {
      shape: "business-hours",
      timeZone: "Europe/Berlin",
      days: [0, 1, 2, 3, 4, 5, 6],
    },
  }),
);
const startMs = await timed(() => pacing.start("big"));
console.log(
  `${records} records over ${DAYS} days: planned in ${planMs} ms, started in ${startMs} ms`,
);
for (let turn = 0, before = -1; ;) {
  await t.drain();
  const { segments: seen } = await pacing.metrics("big");
  if (seen.complete !== before) {
    before = seen.complete;
    const counts = Object.values(await t.hf.counts());
    const live = counts.reduce((sum, { ready, delayed }) => sum + ready + delayed, 0);
    console.log(
      `hour ${turn}: ${created} created, ${seen.complete} segments complete, ${seen.open.length} open, ${live} jobs wait, heap ${heapMb()} MB`,
    );
  }
  if (created > 0 && seen.complete - seen.open.length > 24 + segments) break;
  if (turn > 240) break;
  await t.advance(HOUR_MS);
  turn += 1;
}
await t.hf.close();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return Math.round(performance.now() - from);
}
