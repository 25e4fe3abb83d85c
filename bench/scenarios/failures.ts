/**
 * What a ledger, statistics and worker records cost, and what it costs to look at them.
 *
 * Looking: `hf.stats()`, `hf.deadLetters.summary()` and `groups()` with 200 thousand finished and 50 thousand
 * dead jobs, against ten thousand in all; and `hf.stats()` while a fleet of 100 processes is on record.
 * Running: a drain with everything on against one with everything off that can be off; and jobs that all fail
 * once, with a ledger and without.
 */
import type { Holdfast, Store } from "../../packages/holdfast/src/index.ts";
import { drainVariant, readyFor, usualStretch } from "../drain-variant.ts";
import { pairLines } from "../lines.ts";
import { fleetOnRecord } from "../fleet-on-record.ts";
import type { Line, MeasureBench, Metrics, Scenario, Size, Variant } from "../scenario.ts";
import { percentile } from "../statistics.ts";

const LOOKS = 15;
/** Looks that take seconds are made less often. */
const MOST_MS = 10_000;
const PROCESSES = 100;
const FAULTS = 12;
const FEW = "10k jobs";
const MANY = "250k jobs";
const ON = "drain, all on";
const OFF = "drain, none on";
const WITH = "all fail once, ledger";
const WITHOUT = "all fail once, none";
/** Each job is run twice: half of them make as long a stretch. */
const FAILING_SHARE = 0.5;

const METRICS = [
  ["statsMs", "hf.stats()"],
  ["summaryMs", "summary()"],
  ["groupsMs", "groups()"],
] as const;

export const failures: Scenario = {
  name: "failures",
  title: "ledger, statistics and worker records: what they cost, and what looking at them costs",
  mostRounds: 5,
  variants: (size) => [
    looking(FEW, size.quick ? { dead: 50, newer: 200 } : { dead: 2_000, newer: 8_000 }),
    looking(MANY, size.quick ? { dead: 200, newer: 800 } : { dead: 50_000, newer: 200_000 }),
    draining(ON, size, {}),
    draining(OFF, size, { without: ["ledger", "stats"] }),
    draining(WITH, size, { failsOnce: true }),
    draining(WITHOUT, size, { failsOnce: true, without: ["ledger"] }),
  ],
  lines: [
    ...METRICS.flatMap(([metric, label]): Line[] => [
      { kind: "figure", variant: FEW, metric, label: `${label}, ${FEW}`, unit: "ms" },
      { kind: "figure", variant: MANY, metric, label: `${label}, ${MANY}`, unit: "ms" },
      {
        kind: "ratio",
        label: `${label}, ${MANY} ÷ ${FEW}`,
        of: { variant: MANY, metric },
        by: [{ variant: FEW, metric }],
        target: { atMost: 3 },
      },
    ]),
    {
      ...{ kind: "figure", variant: MANY, metric: "fleetMs", unit: "ms" },
      ...{ label: `hf.stats(), ${PROCESSES} processes`, target: { atMost: 100 } },
    },
    ...pairLines(ON, OFF, { atLeast: 0.95 }),
    ...pairLines(WITH, WITHOUT, { atLeast: 0.6 }),
  ],
};

function draining(
  label: string,
  size: Size,
  settings: { readonly without?: readonly ("ledger" | "stats")[]; readonly failsOnce?: boolean },
): Variant {
  const share = settings.failsOnce ? FAILING_SHARE : 1;
  const stretch = usualStretch(size, share);
  const prefill = { ready: readyFor(stretch, share) };
  return drainVariant(label, "holdfast", { stretch, prefill, ...settings });
}

function looking(label: string, past: { readonly dead: number; readonly newer: number }): Variant {
  // Looking changes nothing: one filled place serves all rounds.
  const prefill = { ready: 0, past: { ...past, faults: FAULTS }, inPlace: true };
  return { label, contender: "holdfast", prefill, measure: timeLooks };
}

async function timeLooks(bench: MeasureBench): Promise<Metrics> {
  const session = await bench.open(await bench.place());
  const { hf, store } = session;
  if (!hf || !store) throw new Error("only Holdfast can be asked");
  const metrics = {
    statsMs: await timed(() => hf.stats()),
    summaryMs: await timed(() => hf.deadLetters.summary()),
    groupsMs: await timed(() => hf.deadLetters.groups()),
    fleetMs: await timedWithFleet(hf, store),
  };
  await session.close();
  return metrics;
}

async function timedWithFleet(hf: Holdfast, store: Store): Promise<number> {
  const fleet = await fleetOnRecord(store, PROCESSES);
  const tookMs = await timed(async () => {
    const { finished } = await hf.stats();
    if (finished.succeeded !== fleet.succeeded) throw new Error("the fleet's figures are wrong");
  });
  await fleet.remove();
  return tookMs;
}

async function timed(look: () => Promise<unknown>): Promise<number> {
  await look();
  const tookMs: number[] = [];
  const endAt = performance.now() + MOST_MS;
  do {
    const beganAt = performance.now();
    await look();
    tookMs.push(performance.now() - beganAt);
  } while (tookMs.length < LOOKS && performance.now() < endAt);
  return percentile(tookMs, 0.5);
}
