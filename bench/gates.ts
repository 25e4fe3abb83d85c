/**
 * What gates cost: `npm run bench:gates -- [--store postgres] [--rounds n] [--only a,b] [--quick]`. SQLite by default;
 * servers are started and stopped.
 *
 *   drain    a queue with a rate far above what it does, against the same without
 *   held     100 ready jobs beside 100,000 that a gate holds back, against none held
 *   groups   1,000 active groups of a gate per group beside 99,000 others that were used and wait, against none beside
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect } from "../packages/holdfast/src/connect.ts";
import type { Holdfast } from "../packages/holdfast/src/index.ts";
import { freshUrls } from "./fresh-urls.ts";
import { spreadOf } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    rounds: { type: "string", default: "5" },
    only: { type: "string", default: "drain,held,groups" },
    quick: { type: "boolean", default: false },
  },
});
const small = values.quick;
const JOBS = small ? 500 : 20_000;
const HELD = small ? 1_000 : 100_000;
const OTHERS = small ? 500 : 99_000;
const ACTIVE = small ? 50 : 1_000;
const READY = 100;

const urls = await freshUrls(values.store);
console.log(`gates on ${urls.store}`);

interface Place {
  readonly hf: Holdfast;
  readonly queue: string;
  /** Resolves when so many jobs have run; answers milliseconds from `work`. */
  run(count: number): Promise<number>;
  /** Resolves when so many jobs have run, by a worker that is there already. */
  ran(count: number): Promise<void>;
  close(): Promise<void>;
}

async function open(): Promise<Place> {
  const hf = await connect(await urls.next(), { ledger: false });
  const queue = "gated";
  let ran = 0;
  let target = Infinity;
  const { promise, resolve } = Promise.withResolvers<void>();
  hf.handle("work", () => {
    ran += 1;
    if (ran === target) resolve();
  });
  return {
    hf,
    queue,
    async run(count) {
      target = count;
      const startedAt = performance.now();
      await hf.work({ queues: [queue], concurrency: 50 });
      await promise;
      return performance.now() - startedAt;
    },
    ran(count) {
      target = count;
      if (ran >= count) resolve();
      return promise;
    },
    close: () => hf.close({ graceMs: 100 }),
  };
}

async function add(
  { hf, queue }: Place,
  count: number,
  options: (at: number) => { readonly group?: string; readonly delayMs?: number } = () => ({}),
): Promise<void> {
  for (let from = 0; from < count; from += 5_000) {
    await hf.enqueueAll(
      Array.from({ length: Math.min(5_000, count - from) }, (_, at) => ({
        ...{ type: "work", payload: null, queue, ...options(from + at) },
      })),
    );
  }
}

async function drain(isGated: boolean): Promise<number> {
  const place = await open();
  const rate = { limit: 1_000_000, perMs: 1_000 };
  if (isGated) await place.hf.gates.set(place.queue, { queue: place.queue, rate });
  await add(place, JOBS);
  const ms = await place.run(JOBS);
  await place.close();
  return JOBS / ms;
}

async function held(count: number): Promise<number> {
  const place = await open();
  const { hf, queue } = place;
  const rate = { limit: 1, perMs: 86_400_000, burst: READY, per: "group" } as const;
  await hf.gates.set(queue, { queue, rate });
  const burst = { group: "held", cost: READY };
  await hf.gates.acquire(queue, burst);
  await add(place, count, () => ({ group: "held" }));
  // Held back is what a worker has met: from then on they wait behind the hold of their line.
  await hf.work({ queues: [queue], concurrency: 10 });
  while (count > 0 && !(await isHeld(place))) await pause(20);
  const startedAt = performance.now();
  await add(place, READY, () => ({ group: "ready" }));
  await place.ran(READY);
  const ms = performance.now() - startedAt;
  await place.close();
  return READY / ms;
}

async function isHeld({ hf, queue }: Place): Promise<boolean> {
  const { lines } = await hf.lines(queue);
  return lines.some(({ group, holds }) => group === "held" && holds.length > 0);
}

async function groups(others: number): Promise<number> {
  const place = await open();
  const { hf, queue } = place;
  await hf.gates.set(queue, { queue, rate: { limit: 1_000, perMs: 1_000, per: "group" } });
  // Used a while ago, and their next job is due tomorrow.
  await add(place, others, (at) => ({ group: `other-${at}`, delayMs: 86_400_000 }));
  for (let at = 0; at < others; at += 200) {
    const some = Array.from({ length: Math.min(200, others - at) }, (_, one) => one + at);
    await Promise.all(some.map((one) => hf.gates.acquire(queue, { group: `other-${one}` })));
  }
  const jobs = ACTIVE * 5;
  await add(place, jobs, (at) => ({ group: `active-${at % ACTIVE}` }));
  const ms = await place.run(jobs);
  await place.close();
  return jobs / ms;
}

const LINES = {
  drain: { text: "drain with a rate far above", of: drain, with: true, without: false },
  held: { text: `${READY} ready beside ${HELD} held back`, of: held, with: HELD, without: 0 },
  groups: {
    text: `${ACTIVE} active groups beside ${OTHERS}`,
    of: groups,
    with: OTHERS,
    without: 0,
  },
} as const;

try {
  for (const name of values.only.split(",") as (keyof typeof LINES)[]) {
    const { text, of, with: beside, without } = LINES[name];
    const measure = of as (what: boolean | number) => Promise<number>;
    const ratios: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const plain = await measure(without);
      const gated = await measure(beside);
      rates.push(gated * 1_000);
      ratios.push(gated / plain);
    }
    const { median, min, max } = spreadOf(ratios);
    console.log(
      `${text}: ${median.toFixed(2)} (${min.toFixed(2)} - ${max.toFixed(2)}) of the rate without; ` +
        `${Math.round(spreadOf(rates).median)} jobs a second`,
    );
  }
} finally {
  await urls.close();
}
process.exit(0);
