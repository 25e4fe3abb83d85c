/** Whether workers in many processes help each other or stand in each other's way. */
import { readyFor, usualStretch, type StretchSize } from "../drain-variant.ts";
import { startDrainer } from "../drainer.ts";
import { pairLines } from "../lines.ts";
import { sharedNow } from "../payload.ts";
import type { MeasureBench, Metrics, Scenario, Size, Variant } from "../scenario.ts";

export const processes: Scenario = {
  name: "processes",
  title: "drain by 8 competing worker processes, against one",
  variants: (size) => [variant("1 process", 1, size), variant("8 processes", 8, size)],
  lines: pairLines("8 processes", "1 process", { atLeast: 1 }),
};

/**
 * So often each process runs what others run before they are measured. The stretch is most of one process's
 * life, and an eighth as many jobs for each of eight: so all must be hot when it begins. With four, one got
 * hot within its stretch and eight did not, and a job took each of those half as much CPU again.
 */
const WARM_UPS = 12;

function variant(label: string, count: number, size: Size): Variant {
  const { skip, count: jobs } = usualStretch(size);
  const stretch = { skip: count * WARM_UPS * skip, count: 2 * jobs };
  // Eight of them lease ahead.
  const prefill = { ready: readyFor(stretch, 4) };
  const measure = (bench: MeasureBench): Promise<Metrics> => drainBy(count, bench, stretch);
  return { label, contender: "holdfast", prefill, measure };
}

async function drainBy(
  count: number,
  bench: MeasureBench,
  { skip, count: jobs }: StretchSize,
): Promise<Metrics> {
  const place = await bench.place();
  let started = 0;
  let beganAt = 0;
  let finish: (ms: number) => void = () => {};
  const done = new Promise<number>((resolve) => (finish = resolve));
  const onStarted = (more: number): void => {
    started += more;
    if (beganAt === 0 && started >= skip) {
      beganAt = sharedNow();
      started = 0;
    } else if (beganAt > 0 && started >= jobs) finish(sharedNow() - beganAt);
  };
  const { store, contender } = bench;
  const drainers = await Promise.all(
    Array.from({ length: count }, () => startDrainer({ store, contender, place }, onStarted)),
  );
  for (const drainer of drainers) drainer.go();
  const ms = await done;
  await Promise.all(drainers.map((drainer) => drainer.stop()));
  return { jobsPerSecond: jobs / (ms / 1_000) };
}
