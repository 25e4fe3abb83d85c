/**
 * A worker whose queue begins with a thousand jobs that crashed twice before, for reasons of their own: how
 * fast do the jobs behind them run, compared with a queue without any? `npm run bench:suspects`.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Holdfast } from "../packages/holdfast/src/index.ts";
import { memoryStore } from "../packages/holdfast/src/stores/memory/index.ts";
import { adoptedJob } from "../packages/holdfast/src/testing/conformance/new-job.ts";
import { spreadOf } from "./statistics.ts";

const SUSPECTS = 1_000;
const HEALTHY = 3_000;
const HANDLER_MS = 20;
const CONCURRENCY = 50;
const ROUNDS = 5;

/** Healthy jobs a second, and what each suspect cost the store in settles. */
async function round(suspects: number) {
  const store = memoryStore();
  await store.open();
  const now = await store.now();
  const jobs = Array.from({ length: suspects }, () =>
    adoptedJob({
      ...{ queue: "default", type: "suspect", status: "queued", crashes: 2, attempts: 2 },
      ...{ maxAttempts: 10, createdAt: now, runAt: now },
    }),
  );
  for (let from = 0; from < suspects; from += 100) await store.adopt(jobs.slice(from, from + 100));
  const hf = new Holdfast({ store });
  let settled = 0;
  hf.on("released", () => (settled += 1));
  let ran = 0;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  hf.handle("suspect", () => pause(HANDLER_MS));
  hf.handle("healthy", async () => {
    await pause(HANDLER_MS);
    ran += 1;
    if (ran === HEALTHY) resolve();
  });
  await hf.enqueueAll(
    Array.from({ length: HEALTHY }, () => ({ type: "healthy", payload: null, queue: "default" })),
  );
  const startedAt = performance.now();
  await hf.work({ concurrency: CONCURRENCY });
  await done;
  const rate = HEALTHY / ((performance.now() - startedAt) / 1_000);
  await hf.close({ graceMs: 100 });
  return { rate, handedBack: settled / Math.max(1, suspects) };
}

const ratios: number[] = [];
const handedBack: number[] = [];
for (let n = 0; n < ROUNDS; n += 1) {
  const without = await round(0);
  const beside = await round(SUSPECTS);
  ratios.push(beside.rate / without.rate);
  handedBack.push(beside.handedBack);
}
const { median, min, max } = spreadOf(ratios);
console.log(
  `beside ${SUSPECTS} suspects healthy jobs run at ${median.toFixed(2)} (${min.toFixed(2)} - ${max.toFixed(2)}) of their usual rate; ` +
    `each suspect was handed back ${spreadOf(handedBack).median.toFixed(1)} times meanwhile`,
);
