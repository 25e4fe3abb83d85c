/**
 * A hungry fleet: workers in processes of their own, a trickle of jobs from another process, and then
 * nothing at all. `npm run bench:fleet -- --store postgres [--old <dist of another build>]`.
 *
 * Prints, for each build: calls of `lease` a job, how long a job took to start (p50, p95), and what an idle
 * process asks of its store in a second.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { contenderNamed, isStoreName, STORE_NAMES, type StoreName } from "./contenders/index.ts";
import { BASE } from "./options.ts";
import { payloadOf, sharedNow } from "./payload.ts";
import { Places } from "./places.ts";
import { percentile } from "./statistics.ts";

const FILE = fileURLToPath(import.meta.url);
const EVERY_MS = 60;
/** Long enough for the processes to know of each other. */
const SETTLE_MS = 8_000;
const IDLE_MS = 20_000;

interface Order {
  readonly store: StoreName;
  readonly place: string;
  readonly role: "worker" | "producer";
}
interface Seen {
  readonly calls: Readonly<Record<string, number>>;
  readonly waitedMs: readonly number[];
}

/** Counts calls by verb, those of rooms as `records.read`. */
function counting(calls: Record<string, number>) {
  const wrap = <Some extends object>(part: Some, prefix = ""): Some =>
    new Proxy(part, {
      get(target, verb) {
        const member: unknown = Reflect.get(target, verb);
        if (typeof member === "object" && member !== null) return wrap(member, `${String(verb)}.`);
        if (typeof member !== "function" || verb === "info" || verb === "onWakeup") return member;
        return (...args: unknown[]): unknown => {
          const key = prefix + String(verb);
          calls[key] = (calls[key] ?? 0) + 1;
          return Reflect.apply(member, target, args);
        };
      },
    });
  return <Some extends object>(store: Some): Some => wrap(store);
}

async function child({ store, place, role }: Order): Promise<void> {
  const calls: Record<string, number> = {};
  const waitedMs: number[] = [];
  const contender = await contenderNamed(store, "holdfast");
  const settings = { keep: true, wrap: counting(calls), concurrency: 10 };
  const session = await contender.open(place, settings);
  process.once("disconnect", () => process.exit(1));
  const stop =
    role === "worker"
      ? await session.run(({ at }) => void waitedMs.push(sharedNow() - at))
      : async () => {};
  process.on("message", (word: "tell" | "stop" | number) => {
    if (word === "tell") process.send?.({ calls, waitedMs } satisfies Seen);
    else if (word === "stop")
      void stop()
        .then(() => session.close())
        .then(() => process.exit(0));
    else void session.enqueue(payloadOf(word, sharedNow()));
  });
  process.send?.("ready");
}

async function start(dist: string, order: Order): Promise<ChildProcess> {
  const env = { ...process.env, HOLDFAST_BENCH_DIST: dist };
  const started = fork(FILE, [JSON.stringify(order)], { env });
  await once(started, "message");
  return started;
}

async function tell(worker: ChildProcess): Promise<Seen> {
  worker.send("tell");
  const [seen] = (await once(worker, "message")) as [Seen];
  return seen;
}

const sum = (calls: Seen["calls"]): number => Object.values(calls).reduce((a, b) => a + b, 0);

async function measure(name: string, dist: string, places: Places, options: Options) {
  const { store, processes, jobs } = options;
  const place = await places.fresh();
  const workers: ChildProcess[] = [];
  for (let n = 0; n < processes; n += 1) {
    workers.push(await start(dist, { store, place, role: "worker" }));
  }
  const producer = await start(dist, { store, place, role: "producer" });
  try {
    await pause(SETTLE_MS);
    const before = await Promise.all(workers.map(tell));
    for (let n = 0; n < jobs; n += 1) {
      producer.send(n);
      await pause(EVERY_MS);
    }
    await pause(1_000);
    const after = await Promise.all(workers.map(tell));
    const asked = (seen: readonly Seen[]) =>
      seen.reduce((all, { calls }) => all + (calls["lease"] ?? 0), 0);
    const waited = after.flatMap(({ waitedMs }) => waitedMs);
    await pause(SETTLE_MS);
    const idle = await Promise.all(workers.map(tell));
    await pause(IDLE_MS);
    const later = await Promise.all(workers.map(tell));
    const idleCalls = later.map(({ calls }, at) => sum(calls) - sum(idle[at]!.calls));
    const perSecond = idleCalls.reduce((a, b) => a + b, 0) / processes / (IDLE_MS / 1_000);
    console.log(
      `${store.padEnd(9)} ${name.padEnd(4)} ${waited.length} of ${jobs} jobs ran; ` +
        `${((asked(after) - asked(before)) / jobs).toFixed(1)} lease calls a job; ` +
        `to start p50 ${percentile(waited, 0.5).toFixed(1)} ms, p95 ${percentile(waited, 0.95).toFixed(1)} ms; ` +
        `idle ${perSecond.toFixed(2)} calls a second in each process`,
    );
  } finally {
    for (const one of [...workers, producer]) {
      one.send("stop");
      await once(one, "exit");
    }
  }
}

interface Options {
  readonly store: StoreName;
  readonly processes: number;
  readonly jobs: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      store: { type: "string" },
      old: { type: "string" },
      processes: { type: "string", default: "10" },
      jobs: { type: "string", default: "200" },
    },
  });
  const { store } = values;
  if (store === undefined || !isStoreName(store)) {
    throw new Error(
      `npm run bench:fleet -- --store <${STORE_NAMES.join("|")}> [--old <dist of another build>] [--processes 10] [--jobs 200]`,
    );
  }
  const options = { store, processes: Number(values.processes), jobs: Number(values.jobs) };
  const places = await Places.open(store, { folder: tmpdir(), appendfsync: "everysec" });
  try {
    if (values.old !== undefined) await measure("old", resolve(BASE, values.old), places, options);
    const dist = fileURLToPath(new URL("../packages/holdfast/dist", import.meta.url));
    await measure("new", dist, places, options);
  } finally {
    await places.close();
  }
}

const order = process.argv[2];
if (process.send && order?.startsWith("{")) await child(JSON.parse(order) as Order);
else await main();
