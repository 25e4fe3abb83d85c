/**
 * A rate over a fleet: several processes on one store and virtual time, with a limit, a burst and keys by chance. Jobs
 * come in trickles, then in floods; answers get lost, a process is killed.
 *
 * A grant is used within a quarter of a second, so every window that is so much shorter holds no more starts
 * than one of `perMs` holds grants.
 */
import type { Holdfast } from "../../packages/holdfast/src/index.ts";
import { seededRandom } from "../../packages/holdfast/src/testing/seeded-random.ts";
import { openWorld, type Process, type StoreName } from "../rules/world.ts";
import { losing, type Link } from "./fault-links.ts";

const GRANT_MS = 250;
const PROCESSES = 4;
const PHASE_MS = 6_000;
const QUEUE = "crm";

/** What was broken, in words; nothing if all is well. */
export async function rateScenario(
  store: StoreName,
  { seed, bug = (plain) => plain }: { readonly seed: number; readonly bug?: Link },
): Promise<string[]> {
  const random = seededRandom(seed);
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  const isPerGroup = random() < 0.5;
  const groups = isPerGroup ? Array.from({ length: upTo(5) }, (_, at) => `g${at}`) : [null];
  const limit = upTo(isPerGroup ? 20 : 60);
  const perMs = 500 + upTo(1_500);
  const burst = 2 + upTo(Math.max(1, Math.floor(limit / 3)));
  const rate = { limit, perMs, burst, ...(isPerGroup && { per: "group" as const }) };
  const told = `seed ${seed}, ${JSON.stringify({ ...rate, groups: groups.length })}`;
  const starts = new Map<string, number[]>();
  let isLossy = false;
  const lossy = losing(() => isLossy && random() < 0.05);
  const world = await openWorld(store);
  try {
    const start = async (): Promise<Process> => {
      const process = world.process({ link: (plain) => lossy(bug(plain)) });
      process.hf.handle("work", (job) => {
        const key = job.group ?? "";
        starts.set(key, [...(starts.get(key) ?? []), world.time.now]);
        return new Promise<void>((done) => void world.time.timer(upTo(40), done));
      });
      await process.hf.work({ queues: [QUEUE], concurrency: upTo(8) });
      return process;
    };
    const processes: Process[] = [];
    for (let count = 0; count < PROCESSES; count += 1) processes.push(await start());
    const { hf } = world.process();
    await hf.gates.set("rated", { queue: QUEUE, rate });
    await world.advance(6_000);

    // A trickle that asks for more than the rate, a few at a time.
    for (const until = world.time.now + PHASE_MS; world.time.now < until;) {
      await add(hf, upTo(3), groups);
      await world.advance(upTo(40));
    }
    // A flood.
    const allowed = (limit * PHASE_MS) / perMs;
    await add(hf, Math.ceil(4 * allowed + burst), groups);
    await world.advance(1_000);
    const begin = world.time.now;
    await world.advance(PHASE_MS);
    const broken: string[] = [];
    for (const [key, times] of starts) {
      const used = times.filter((at) => at >= begin).length;
      if (used < 0.85 * allowed - 1) {
        broken.push(`${told}: ${key} used ${used} of ${allowed} while jobs waited`);
      }
    }
    isLossy = true;
    await world.advance(PHASE_MS);
    processes[0]!.kill();
    await start();
    await world.advance(PHASE_MS);
    for (const [key, times] of starts) {
      const most = mostIn(times, Math.max(1, perMs - GRANT_MS));
      if (most > limit + burst) broken.push(`${told}: ${key} started ${most} in a window`);
    }
    const { jobs } = await hf.jobs({ queue: QUEUE, status: "queued", limit: 200 });
    const charged = jobs.filter(({ attempts }) => attempts > 1).length;
    if (charged > 0) broken.push(`${told}: ${charged} jobs that waited were charged`);
    return broken;
  } finally {
    await world.close();
  }
}

async function add(hf: Holdfast, count: number, groups: readonly (string | null)[]) {
  await hf.enqueueAll(
    groups.flatMap((group) =>
      Array.from({ length: count }, () => ({
        ...{ type: "work", payload: null, queue: QUEUE, ...(group !== null && { group }) },
      })),
    ),
  );
}

function mostIn(times: readonly number[], windowMs: number): number {
  let most = 0;
  for (let from = 0, to = 0; to < times.length; to += 1) {
    while (times[to]! - times[from]! >= windowMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
