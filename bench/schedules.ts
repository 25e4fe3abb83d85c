/**
 * What ten thousand schedules cost a process: the share of a core that it uses with them and without, and how late
 * their ticks are. `npm run bench:schedules [-- --store postgres]`; SQLite by default.
 *
 * They fire every hour, spread over it. No worker takes their queue, so what is measured is firing, not running.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect } from "../packages/holdfast/src/connect.ts";
import { freshUrls } from "./fresh-urls.ts";

const SCHEDULES = 10_000;
const HOUR_MS = 3_600_000;
const SETTLE_MS = 5_000;
const MEASURE_MS = 60_000;

const { values } = parseArgs({ options: { store: { type: "string", default: "sqlite" } } });
const urls = await freshUrls(values.store);

/** In percent of a core. */
async function measured(schedules: number) {
  const hf = await connect(await urls.next());
  hf.handle("idle", () => {});
  for (let at = 0; at < schedules; at += 1) {
    hf.schedule(`schedule-${at}`, {
      everyMs: HOUR_MS,
      startAfterMs: SETTLE_MS + Math.floor((at / schedules) * HOUR_MS),
      job: { type: "nothing", payload: { at }, queue: "not-worked-on" },
    });
  }
  const beganAt = performance.now();
  await hf.work();
  const startMs = performance.now() - beganAt;
  await pause(SETTLE_MS);
  const cpu = process.cpuUsage();
  const from = performance.now();
  await pause(MEASURE_MS);
  const used = process.cpuUsage(cpu);
  const ms = performance.now() - from;
  const { jobs } = await hf.jobs({ queue: "not-worked-on", limit: 200 });
  const late = jobs.map((job) => job.createdAt.getTime() - Date.parse(job.meta?.tick as string));
  await hf.close();
  const percent = ((used.user + used.system) / 1_000 / ms) * 100;
  return { percent, startMs, fired: jobs.length, lateMs: late.sort((a, b) => a - b) };
}

const without = await measured(0);
const beside = await measured(SCHEDULES);
const { lateMs } = beside;
console.log(
  `${SCHEDULES} hourly schedules on ${urls.store}: ${(beside.percent - without.percent).toFixed(2)} % of a core ` +
    `(${beside.percent.toFixed(2)} % with, ${without.percent.toFixed(2)} % without); ` +
    `${beside.fired} ticks in ${(MEASURE_MS + SETTLE_MS) / 1_000} s, late by ` +
    `${lateMs[Math.floor(lateMs.length / 2)]} ms (median), ${lateMs.at(-1)} ms (most); ` +
    `brought into the store in ${Math.round(beside.startMs)} ms`,
);
await urls.close();
