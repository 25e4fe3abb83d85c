/**
 * A breaker over a fleet: the other side goes down and comes back, an operator pauses the queue meanwhile, answers
 * get lost, a process is killed. Judged from outside, by what starts and when.
 */
import { seededRandom } from "../../packages/holdfast/src/testing/seeded-random.ts";
import { openWorld, type Process, type StoreName } from "../rules/world.ts";
import { losing, type Link } from "./fault-links.ts";

const QUEUE = "crm";
const OPEN_MS = 5_000;
const JOBS = 60;

/** What was broken, in words; nothing if all is well. `bug` is asked once for each process. */
export async function breakerScenario(
  store: StoreName,
  { seed, bug = () => (plain) => plain }: { readonly seed: number; bug?: (name: string) => Link },
): Promise<string[]> {
  const random = seededRandom(seed);
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  const probes = upTo(2);
  const breaker = { failures: 2 + upTo(3), withinMs: 20_000, openMs: OPEN_MS, probes };
  const told = `seed ${seed}, ${JSON.stringify(breaker)}`;
  const broken: string[] = [];
  const starts: number[] = [];
  let isDown = true;
  let isPaused = false;
  let isLossy = false;
  const lossy = losing(() => isLossy && random() < 0.1);
  const world = await openWorld(store);
  try {
    const start = async (at: number): Promise<Process> => {
      const planted = bug(`p${at}`);
      const process = world.process({ link: (plain) => lossy(planted(plain)) });
      process.hf.define({
        type: "work",
        queue: QUEUE,
        retry: { maxAttempts: 50, baseMs: 100, maxMs: 1_000 },
        async run() {
          starts.push(world.time.now);
          if (isPaused) broken.push(`${told}: a job started while the queue was paused`);
          await new Promise<void>((done) => void world.time.timer(upTo(100), done));
          if (isDown) throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
        },
      });
      await process.hf.work({ concurrency: 3 });
      return process;
    };
    const processes: Process[] = [];
    for (let at = 0; at < 3; at += 1) processes.push(await start(at));
    const { hf } = world.process();
    await hf.gates.set("crm", { queue: QUEUE, breaker });
    await world.advance(6_000);
    // By a process that knows the contract: probes that fail spend attempts.
    await processes[1]!.hf.enqueueAll(
      Array.from({ length: JOBS }, () => ({ type: "work", payload: null, queue: QUEUE })),
    );
    // Each process finds out for itself what it has started, and then all stand still but for probes.
    await world.advance(4_000);
    const openedAt = world.time.now;
    await world.advance(6 * OPEN_MS);
    const since = starts.filter((at) => at >= openedAt);
    for (const from of since) {
      const most = since.filter((at) => at >= from && at < from + OPEN_MS - 500).length;
      if (most > probes) broken.push(`${told}: ${most} starts while it was down, in one opening`);
    }
    if (since.length === 0) broken.push(`${told}: it was never probed`);

    // An operator pauses the queue; the breaker probes, or would, and lifts its own hold only.
    await hf.pause(QUEUE, { reason: "by hand" });
    await world.advance(500);
    isPaused = true;
    isDown = false;
    await world.advance(3 * OPEN_MS);
    isPaused = false;
    await hf.resume(QUEUE);
    isLossy = true;
    await world.advance(500);
    processes[0]!.kill();
    await start(3);
    // A probe that died with its process ends in half a minute.
    await world.advance(60_000);
    isLossy = false;
    await world.advance(30_000);
    const counts = (await hf.counts())[QUEUE];
    if (counts?.succeeded !== JOBS) {
      broken.push(`${told}: ${counts?.succeeded} of ${JOBS} succeeded, ${counts?.dead} died`);
    }
    const state = (await hf.gates.get("crm"))?.state;
    if (state !== "closed") broken.push(`${told}: it is ${state} in the end`);
    return broken;
  } finally {
    await world.close();
  }
}
