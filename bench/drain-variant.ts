/** One way of draining, measured over one or more stretches. */
import type { Session, SessionSettings } from "./contender.ts";
import type { MeasureBench, Metrics, Prefill, Size, Variant } from "./scenario.ts";
import { StartedJobs } from "./started-jobs.ts";
import { type Pace, Stretch, type StretchSize } from "./stretch.ts";

export interface DrainOptions extends Partial<SessionSettings> {
  readonly prefill: Prefill;
  readonly stretch: StretchSize;
  /** How many stretches, each on a store that is opened anew. Default 1. */
  readonly laps?: number;
  /** Asked of the store when all is over, and reported beside the pace. */
  readonly afterwards?: (session: Session) => Promise<Metrics>;
  /** After the stretch the rest is run too, and it is counted who is missing and who ran twice. */
  readonly isRunToTheEnd?: boolean;
}

/** Left over at the end, so that nobody runs dry inside the stretch: more than anybody leases ahead. */
const BEHIND = 2_000;
/** Of a contender that is given a small share because it is slow: such ones lease one by one. */
const LEAST_BEHIND = 200;

export function drainVariant(label: string, contender: string, options: DrainOptions): Variant {
  const { prefill, keep = true, without, failsOnce } = options;
  const measure = (bench: MeasureBench): Promise<Metrics> => measureDrain(bench, options);
  return { label, contender, settings: { keep, without, failsOnce }, prefill, measure };
}

/** What most drains are measured over. A slow contender gets a share of it, for as long a stretch. */
export function usualStretch({ quick }: Size, share = 1): StretchSize {
  const [skip, count] = quick ? [500, 1_500] : [5_000, 20_000];
  return { skip: Math.ceil(skip * share), count: Math.ceil(count * share) };
}

export function readyFor({ skip, count }: StretchSize, share = 1): number {
  return skip + count + Math.max(LEAST_BEHIND, BEHIND * share);
}

async function measureDrain(bench: MeasureBench, options: DrainOptions): Promise<Metrics> {
  const { stretch: size, laps = 1, isRunToTheEnd = false, prefill } = options;
  const paces: Pace[] = [];
  let losses = { lost: 0, twice: 0 };
  let isWhole = isRunToTheEnd;
  const more: Record<string, Metrics[string]> = {};
  for (let lap = 0; lap < laps; lap++) {
    const session = await bench.open(await bench.place());
    const stretch = new Stretch(size);
    const started = new StartedJobs(prefill.ready);
    const stop = await session.run(({ order }) => {
      started.add(order);
      stretch.jobsStarted();
    });
    paces.push(await stretch.done);
    // Of a drain that was cut off, nobody waits for the rest.
    isWhole &&= !stretch.isCut;
    if (isWhole) {
      const { lost, twice } = await started.losses();
      losses = { lost: losses.lost + lost, twice: losses.twice + twice };
    }
    await stop();
    Object.assign(more, await options.afterwards?.(session));
    await session.close();
  }
  return {
    jobsPerSecond: rateOf(paces),
    cpuMicrosPerJob: mean(paces.map((one) => one.cpuMicrosPerJob)),
    ...(isWhole ? losses : {}),
    ...more,
  };
}

/** Over all laps: the same number of jobs each, so the times are averaged and not the rates. */
function rateOf(paces: readonly Pace[]): number {
  return 1 / mean(paces.map((one) => 1 / one.jobsPerSecond));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
