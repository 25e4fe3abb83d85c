/**
 * Two builds of Holdfast against each other, in alternating processes on fresh places of one server: what
 * did a change cost? `npm run bench:builds -- --store sqlite --old <folder of the other dist>`.
 *
 * Prints, for each of enqueue, drain and groups, the medians of new over old: the rate, and the CPU time
 * of the process a job; and of the idle latency, after random pauses and back to back.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { contenderNamed, isStoreName, STORE_NAMES, type StoreName } from "./contenders/index.ts";
import { type Course, latenciesOf } from "./latencies.ts";
import { BASE } from "./options.ts";
import { payloadOf, payloadsOf } from "./payload.ts";
import { Places } from "./places.ts";
import { percentile, type Spread, spreadOf } from "./statistics.ts";

const FILE = fileURLToPath(import.meta.url);
const CALLERS = 100;
const ENQUEUED = 20_000;
const DRAINED = 40_000;
const GROUPED = 20_000;
const GROUPS = 1_000;
const WARM_UP = 5_000;
const CHUNK = 1_000;
const SAMPLES = 200;

/** What one process measured: jobs a second, and microseconds of its CPU a job. */
interface Figures {
  readonly rate: number;
  readonly cpu: number;
}
/** Medians in milliseconds: after random pauses, and one job right after the other. */
interface Latency {
  readonly random: number;
  readonly none: number;
}
type Measured = Readonly<Record<"enqueue" | "drain" | "groups", Figures>> & {
  readonly latency: Latency;
};

interface Order {
  readonly store: StoreName;
  readonly place: string;
  readonly jobs: number;
}

async function measured(jobs: number, work: () => Promise<unknown>): Promise<Figures> {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { rate: jobs / seconds, cpu: (user + system) / jobs };
}

/** In a process of its own, with the build that `HOLDFAST_BENCH_DIST` names. */
async function child({ store, place, jobs }: Order): Promise<void> {
  const contender = await contenderNamed(store, "holdfast");
  const session = await contender.open(place, { keep: true });
  const share = jobs / DRAINED;
  const enqueued = Math.round(ENQUEUED * share);
  const enqueueAlone = async (count: number): Promise<void> => {
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < count) await session.enqueue(payloadOf(next++));
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  };
  // Opens the store and warms the code up: neither is what a job costs.
  await enqueueAlone(WARM_UP);
  const enqueue = await measured(enqueued, () => enqueueAlone(enqueued));
  const fill = async (count: number, groups: number): Promise<void> => {
    for (let from = 0; from < count; from += CHUNK) {
      const groupOf = groups > 0 ? (at: number) => `g${(from + at) % groups}` : undefined;
      await session.enqueueAll(payloadsOf(from, CHUNK), { groupOf });
    }
  };
  const drainAll = async (count: number): Promise<Figures> => {
    let left = count;
    const { promise, resolve: done } = Promise.withResolvers<void>();
    const figures = await measured(count, async () => {
      const stop = await session.run(() => {
        left -= 1;
        if (left === 0) done();
      });
      await promise;
      await stop();
    });
    return figures;
  };
  const drained = Math.round((DRAINED * share) / CHUNK) * CHUNK;
  await fill(drained, 0);
  const drain = await drainAll(drained + enqueued + WARM_UP);
  const grouped = Math.round((GROUPED * share) / CHUNK) * CHUNK;
  await fill(grouped, GROUPS);
  const groups = await drainAll(grouped);
  const p50 = async (pauses: Course["pauses"]): Promise<number> =>
    percentile(await latenciesOf(session, { warmJobs: 500, samples: SAMPLES, pauses }), 0.5);
  const latency = { random: await p50("random"), none: await p50("none") };
  process.send?.({ enqueue, drain, groups, latency } satisfies Measured);
  await session.close();
  process.disconnect?.();
}

async function runBuild(dist: string, order: Order): Promise<Measured> {
  const env = { ...process.env, HOLDFAST_BENCH_DIST: dist };
  const process_ = fork(FILE, [JSON.stringify(order)], { env });
  const exited = once(process_, "exit");
  const [figures] = (await Promise.race([
    once(process_, "message"),
    exited.then(([code]) => Promise.reject(new Error(`a build's process ended with ${code}`))),
  ])) as [Measured];
  await exited;
  return figures;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      store: { type: "string" },
      old: { type: "string" },
      pairs: { type: "string", default: "9" },
      jobs: { type: "string", default: String(DRAINED) },
    },
  });
  const { store } = values;
  if (store === undefined || !isStoreName(store) || values.old === undefined) {
    throw new Error(
      `npm run bench:builds -- --store <${STORE_NAMES.join("|")}> --old <dist of the other build> [--pairs 9] [--jobs 40000]`,
    );
  }
  const builds = {
    old: resolve(BASE, values.old),
    new: fileURLToPath(new URL("../packages/holdfast/dist", import.meta.url)),
  };
  const places = await Places.open(store, { folder: tmpdir(), appendfsync: "everysec" });
  const pairs: { readonly old: Measured; readonly new: Measured }[] = [];
  try {
    for (let pair = 0; pair < Number(values.pairs); pair += 1) {
      const order = pair % 2 === 0 ? (["old", "new"] as const) : (["new", "old"] as const);
      const done: Partial<Record<"old" | "new", Measured>> = {};
      for (const build of order) {
        const place = await places.fresh();
        done[build] = await runBuild(builds[build], { store, place, jobs: Number(values.jobs) });
      }
      pairs.push(done as { old: Measured; new: Measured });
    }
  } finally {
    await places.close();
  }
  for (const what of ["enqueue", "drain", "groups"] as const) {
    const ratio = (figure: keyof Figures) =>
      spreadOf(pairs.map((pair) => pair.new[what][figure] / pair.old[what][figure]));
    const now = spreadOf(pairs.map((pair) => pair.new[what].rate)).median;
    console.log(
      `${store.padEnd(9)} ${what.padEnd(8)} rate ${shown(ratio("rate"))} of before, ` +
        `CPU a job ${shown(ratio("cpu"))}; now ${Math.round(now)}/s`,
    );
  }
  for (const pauses of ["random", "none"] as const) {
    const ratio = spreadOf(
      pairs.map((pair) => pair.new.latency[pauses] / pair.old.latency[pauses]),
    );
    const now = spreadOf(pairs.map((pair) => pair.new.latency[pauses])).median;
    const when = pauses === "none" ? "back to back" : "after random pauses";
    console.log(
      `${store.padEnd(9)} latency  p50 ${shown(ratio)} of before, ${when}; now ${now.toFixed(2)} ms`,
    );
  }
}

function shown({ median, min, max }: Spread): string {
  return `${median.toFixed(3)} (${min.toFixed(2)} - ${max.toFixed(2)})`;
}

const order = process.argv[2];
if (process.send && order?.startsWith("{")) await child(JSON.parse(order) as Order);
else await main();
