/** How fast jobs get in: one by one from 100 callers at once, and in bulk. */
import type { Session } from "../contender.ts";
import { type Against, contenderLines } from "../lines.ts";
import { payloadOf, payloadsOf } from "../payload.ts";
import type { MeasureBench, Metrics, Scenario, Size, Variant } from "../scenario.ts";
import { type Pace, Stopwatch } from "../stretch.ts";

const CALLERS = 100;
const BULK_ITEMS = 1_000;

interface Way {
  readonly callers: number;
  /** How many jobs one call puts in. */
  readonly jobs: number;
  /** The first of them has number `at`. */
  readonly put: (session: Session, at: number) => Promise<void>;
}

const ONE_BY_ONE: Way = {
  callers: CALLERS,
  jobs: 1,
  put: (session, at) => session.enqueue(payloadOf(at)),
};
/** The raw loop has no callers: it is given the batches that perfect batching would make of them. */
const PERFECT_BATCHES: Way = {
  callers: 1,
  jobs: CALLERS,
  put: (session, at) => session.enqueueAll(payloadsOf(at, CALLERS)),
};
const IN_BULK: Way = {
  callers: 1,
  jobs: BULK_ITEMS,
  put: (session, at) => session.enqueueAll(payloadsOf(at, BULK_ITEMS)),
};

export function enqueue(names: readonly string[], against: readonly Against[]): Scenario {
  return {
    name: "enqueue",
    title: `single enqueue, ${CALLERS} concurrent callers (raw: ${CALLERS} jobs a call)`,
    variants: (size) =>
      names.map((name) =>
        enqueueVariant(name, name === "raw" ? PERFECT_BATCHES : ONE_BY_ONE, size),
      ),
    lines: contenderLines(names, against),
  };
}

export function bulk(names: readonly string[], against: readonly Against[]): Scenario {
  return {
    name: "bulk",
    title: `bulk enqueue, ${BULK_ITEMS} jobs a call`,
    variants: (size) => names.map((name) => enqueueVariant(name, IN_BULK, size)),
    lines: contenderLines(names, against),
  };
}

function enqueueVariant(contender: string, way: Way, { quick }: Size): Variant {
  const times = quick ? { warmMs: 50, measureMs: 150 } : { warmMs: 500, measureMs: 1_500 };
  return { label: contender, contender, measure: (bench) => measure(bench, way, times) };
}

/** For a time and not for a number of jobs: some contenders are fifty times slower than others. */
async function measure(
  bench: MeasureBench,
  { callers, jobs, put }: Way,
  { warmMs, measureMs }: { readonly warmMs: number; readonly measureMs: number },
): Promise<Metrics> {
  const session = await bench.open(await bench.place());
  const watch = new Stopwatch();
  let given = 0;
  let stored = 0;
  let storedWarm: number | null = null;
  const pace = await new Promise<Pace>((resolve, reject) => {
    const beganAt = performance.now();
    let isOver = false;
    const call = async (): Promise<void> => {
      while (!isOver) {
        await put(session, (given += jobs));
        stored += jobs;
        const ms = performance.now() - beganAt;
        if (storedWarm === null && ms >= warmMs) {
          storedWarm = stored;
          watch.start();
        } else if (storedWarm !== null && !isOver && ms >= warmMs + measureMs) {
          isOver = true;
          resolve(watch.pace(stored - storedWarm));
        }
      }
    };
    for (let caller = 0; caller < callers; caller++) call().catch(reject);
  });
  await session.close();
  return { ...pace };
}
