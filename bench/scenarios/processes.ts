/**
 * Whether workers in many processes help each other or stand in each other's way. What they lose only because they
 * share the machine is told beside it: as many of them that have nothing in common but the server.
 */
import { readyFor, usualStretch } from "../drain-variant.ts";
import { startDrainer } from "../drainer.ts";
import { rates, ratio } from "../lines.ts";
import type { MeasureBench, Metrics, Scenario, Size, Variant } from "../scenario.ts";
import { Stretch, type StretchSize } from "../stretch.ts";

const COUNTS = [1, 2, 8] as const;
const APART = "8 processes, each alone with its jobs";

export function processes(target: number): Scenario {
  const [one, two, eight] = COUNTS.map(labelOf) as [string, string, string];
  return {
    name: "processes",
    title: "drain by 8 competing worker processes, against the better of 1 and 2",
    mostRounds: 3,
    variants: (size) => [...COUNTS.map((count) => together(count, size)), apart(8, size)],
    lines: [
      ...rates(one, two, eight, APART),
      ratio(eight, { names: [one, two], as: "the better", target: { atLeast: target } }),
      ratio(APART, { names: [one, two], as: "the better" }),
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

function stretchOf(count: number, size: Size): StretchSize {
  const { skip, count: jobs } = usualStretch(size);
  const warmUps = size.quick ? 1 : WARM_UPS;
  return { skip: count * warmUps * skip, count: 2 * jobs, mostMs: MOST_MS };
}

function together(count: number, size: Size): Variant {
  const stretch = stretchOf(count, size);
  // Eight of them lease ahead.
  const prefill = { ready: readyFor(stretch, 4) };
  const measure = async (bench: MeasureBench): Promise<Metrics> => {
    const place = await bench.place();
    return drain(bench, Array<string>(count).fill(place), stretch);
  };
  return { label: labelOf(count), contender: "holdfast", prefill, measure };
}

/** One may be half as fast again as another. */
const FASTER = 1.5;

function apart(count: number, size: Size): Variant {
  const stretch = stretchOf(count, size);
  const prefill = { ready: Math.ceil((FASTER * readyFor(stretch, 4)) / count) };
  const measure = async (bench: MeasureBench): Promise<Metrics> => {
    const places: string[] = [];
    while (places.length < count) places.push(await bench.place());
    return drain(bench, places, stretch);
  };
  return { label: APART, contender: "holdfast", prefill, measure };
}

/** A process for each of the places. */
async function drain(
  { store, contender }: MeasureBench,
  places: readonly string[],
  size: StretchSize,
): Promise<Metrics> {
  let stretch: Stretch | null = null;
  const onStarted = (jobs: number): void => stretch?.jobsStarted(jobs);
  const drainers = await Promise.all(
    places.map((place) => startDrainer({ store, contender, place }, onStarted)),
  );
  stretch = new Stretch(size);
  for (const drainer of drainers) drainer.go();
  const { jobsPerSecond } = await stretch.done;
  await Promise.all(drainers.map((drainer) => drainer.stop()));
  return { jobsPerSecond };
}
