/** One way of draining, measured over one or more stretches. */
import type { SessionSettings } from "./contender.ts";
import type { MeasureBench, Metrics, Prefill, Size, Variant } from "./scenario.ts";
import { type Pace, Stretch } from "./stretch.ts";

export interface DrainOptions extends SessionSettings {
  readonly prefill: Prefill;
  readonly stretch: StretchSize;
  /** How many stretches, each on a store that is opened anew. Default 1. */
  readonly laps?: number;
}

export interface StretchSize {
  /** Not measured: the code gets hot, the buffers fill. */
  readonly skip: number;
  readonly count: number;
}

/** Left over at the end, so that nobody runs dry inside the stretch: more than anybody leases ahead. */
const BEHIND = 2_000;

export function drainVariant(label: string, contender: string, options: DrainOptions): Variant {
  const { prefill, keep } = options;
  const measure = (bench: MeasureBench): Promise<Metrics> => measureDrain(bench, options);
  return { label, contender, settings: { keep }, prefill, measure };
}

/** What most drains are measured over. */
export function usualStretch({ quick }: Size): StretchSize {
  return quick ? { skip: 500, count: 1_500 } : { skip: 5_000, count: 20_000 };
}

export function readyFor({ skip, count }: StretchSize): number {
  return skip + count + BEHIND;
}

async function measureDrain(bench: MeasureBench, options: DrainOptions): Promise<Metrics> {
  const { stretch: size, laps = 1 } = options;
  const paces: Pace[] = [];
  for (let lap = 0; lap < laps; lap++) {
    const session = await bench.open(await bench.place());
    const stretch = new Stretch(size);
    const stop = await session.run(() => stretch.jobStarted());
    paces.push(await stretch.done);
    await stop();
    await session.close();
  }
  return {
    jobsPerSecond: rateOf(paces),
    cpuMicrosPerJob: mean(paces.map((one) => one.cpuMicrosPerJob)),
  };
}

/** Over all laps: the same number of jobs each, so the times are averaged and not the rates. */
function rateOf(paces: readonly Pace[]): number {
  return 1 / mean(paces.map((one) => 1 / one.jobsPerSecond));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
