/**
 * What a long run costs: a million jobs pass through one process that enqueues and works, with a
 * bounded backlog. Resident memory must not grow with the jobs that have passed, and the event loop
 * must stay free for others.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { payloadsOf } from "../payload.ts";
import type { MeasureBench, Metrics, Scenario } from "../scenario.ts";
import { Stopwatch } from "../stretch.ts";

const MEGABYTE = 1024 * 1024;
const BACKLOG = 10_000;
const PUT_AT_ONCE = 500;
/** How often the memory is looked at between two marks. */
const LOOKS_PER_MARK = 100;

export const memory: Scenario = {
  name: "memory",
  title: "1 million jobs pass through one process (producer and worker), finished jobs kept",
  mostRounds: 1,
  variants: ({ quick }) => {
    const marks = 10;
    const every = quick ? 1_000 : 100_000;
    const measure = (bench: MeasureBench): Promise<Metrics> => passThrough(bench, { marks, every });
    return [{ label: "holdfast", contender: "holdfast", measure }];
  },
  lines: [
    {
      kind: "series",
      label: "resident at each tenth",
      unit: "MB",
      variant: "holdfast",
      metric: "residentMb",
    },
    figure("most resident", "mostMb", "MB", { below: 300 }),
    figure("most after the first tenth ÷ at the first tenth", "growth", "", { below: 1.25 }),
    figure("event-loop delay p50", "loopP50Ms", "ms"),
    figure("event-loop delay p99", "loopP99Ms", "ms"),
    figure("event-loop delay, longest", "loopMostMs", "ms"),
    figure("jobs in and out", "jobsPerSecond", "jobs/s"),
  ],
};

function figure(label: string, metric: string, unit: string, target?: { below: number }) {
  const line = { kind: "figure", label, unit, variant: "holdfast", metric } as const;
  return target ? { ...line, target } : line;
}

async function passThrough(
  bench: MeasureBench,
  { marks, every }: { readonly marks: number; readonly every: number },
): Promise<Metrics> {
  const session = await bench.open(await bench.place());
  // The histogram counts from timer to timer, so its own resolution is part of every value.
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const total = marks * every;
  const residentMb: number[] = [];
  let mostMb = 0;
  let mostAfterFirstMb = 0;
  let started = 0;
  let given = 0;
  let roomMade: () => void = () => {};
  let allStarted: () => void = () => {};
  const finished = new Promise<void>((resolve) => (allStarted = resolve));

  const stop = await session.run(() => {
    started += 1;
    if (started % (every / LOOKS_PER_MARK) === 0) {
      const mb = process.memoryUsage.rss() / MEGABYTE;
      mostMb = Math.max(mostMb, mb);
      if (started > every) mostAfterFirstMb = Math.max(mostAfterFirstMb, mb);
      if (started % every === 0) residentMb.push(mb);
    }
    if (given - started <= BACKLOG - PUT_AT_ONCE) roomMade();
    if (started === total) allStarted();
  });
  const watch = new Stopwatch();
  watch.start();
  delay.enable();
  while (given < total) {
    if (given - started > BACKLOG - PUT_AT_ONCE) {
      await new Promise<void>((resolve) => (roomMade = resolve));
    }
    given += PUT_AT_ONCE;
    await session.enqueueAll(payloadsOf(given, PUT_AT_ONCE));
  }
  await finished;
  delay.disable();
  const pace = watch.pace(total);
  await stop();
  await session.close();
  const ms = (nanoseconds: number): number => nanoseconds / 1e6;
  return {
    ...pace,
    residentMb,
    mostMb,
    growth: mostAfterFirstMb / (residentMb[0] ?? Number.NaN),
    loopP50Ms: ms(delay.percentile(50)),
    loopP99Ms: ms(delay.percentile(99)),
    loopMostMs: ms(delay.max),
  };
}
