/** Whether workers in many processes help each other or stand in each other's way. */
import { readyFor, usualStretch } from "../drain-variant.ts";
import { startDrainer } from "../drainer.ts";
import { rates, ratio } from "../lines.ts";
import type { MeasureBench, Metrics, Scenario, Size, Variant } from "../scenario.ts";
import { Stretch, type StretchSize } from "../stretch.ts";

const COUNTS = [1, 2, 8] as const;

export function processes(target: number): Scenario {
  const [one, two, eight] = COUNTS.map(labelOf) as [string, string, string];
  return {
    name: "processes",
    title: "drain by 8 competing worker processes, against the better of 1 and 2",
    mostRounds: 3,
    variants: (size) => COUNTS.map((count) => variant(count, size)),
    lines: [
      ...rates(one, two, eight),
      ratio(eight, { names: [one, two], as: "the better", target: { atLeast: target } }),
    ],
  };
}

function labelOf(count: number): string {
  return count === 1 ? "1 process" : `${count} processes`;
}

/**
 * So often each process runs what others run before they are measured. The stretch is most of one process's
 * life, and an eighth as many jobs for each of eight: so all must be hot when it begins. With four, one got
 * hot within its stretch and eight did not, and a job took each of those half as much CPU again.
 */
const WARM_UPS = 12;
/** A drain that does not get through it all in time is measured by what it did get done. */
const MOST_MS = 40_000;

function variant(count: number, size: Size): Variant {
  const { skip, count: jobs } = usualStretch(size);
  const warmUps = size.quick ? 1 : WARM_UPS;
  const stretch = { skip: count * warmUps * skip, count: 2 * jobs, mostMs: MOST_MS };
  // Eight of them lease ahead.
  const prefill = { ready: readyFor(stretch, 4) };
  const measure = (bench: MeasureBench): Promise<Metrics> => drainBy(count, bench, stretch);
  return { label: labelOf(count), contender: "holdfast", prefill, measure };
}

async function drainBy(count: number, bench: MeasureBench, size: StretchSize): Promise<Metrics> {
  const { store, contender } = bench;
  const place = await bench.place();
  let stretch: Stretch | null = null;
  const onStarted = (jobs: number): void => stretch?.jobsStarted(jobs);
  const drainers = await Promise.all(
    Array.from({ length: count }, () => startDrainer({ store, contender, place }, onStarted)),
  );
  stretch = new Stretch(size);
  for (const drainer of drainers) drainer.go();
  const { jobsPerSecond } = await stretch.done;
  await Promise.all(drainers.map((drainer) => drainer.stop()));
  return { jobsPerSecond };
}
