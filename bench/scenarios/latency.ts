/**
 * How long an idle system takes from the call of enqueue to the start of the handler: in one process,
 * and with the producer in another. One job at a time, with a random pause before each, so that nobody
 * gains by polling in step.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Session } from "../contender.ts";
import type { Payload } from "../payload.ts";
import { payloadOf, sharedNow } from "../payload.ts";
import { startProducer } from "../producer.ts";
import type { Line, MeasureBench, Metrics, Scenario, Size, Target, Variant } from "../scenario.ts";
import { percentile } from "../statistics.ts";

export interface LatencyScenario {
  readonly peers: readonly string[];
  /** In milliseconds. */
  readonly target?: Target;
  /** As a multiple of a peer's. */
  readonly multiple?: { readonly of: string; readonly target: Target };
}

export function latency(scenario: LatencyScenario): Scenario {
  return {
    name: "latency",
    title: "idle latency from enqueue to the handler's start, same process",
    variants: (size) => variantsOf(scenario.peers, size, "same process"),
    lines: latencyLines(scenario),
  };
}

export function latencyAcross(scenario: LatencyScenario): Scenario {
  return {
    name: "latency-across",
    title: "idle latency from enqueue to the handler's start, producer in another process",
    variants: (size) => variantsOf(scenario.peers, size, "two processes"),
    lines: latencyLines(scenario),
  };
}

const WARM_TOGETHER = 50;
const WARM_SAMPLES = 20;

function variantsOf(
  peers: readonly string[],
  { quick }: Size,
  from: "same process" | "two processes",
): Variant[] {
  const sizes = quick ? { warmJobs: 100, samples: 20 } : { warmJobs: 2_000, samples: 250 };
  return [...peers, "holdfast"].map((contender) => ({
    label: contender,
    contender,
    measure: (bench) => measure(bench, { ...sizes, from }),
  }));
}

interface Course {
  /** Run through first, some at a time: an idle system has been up for long, and its code is compiled. */
  readonly warmJobs: number;
  readonly samples: number;
  readonly from: "same process" | "two processes";
}

async function measure(bench: MeasureBench, { warmJobs, samples, from }: Course): Promise<Metrics> {
  const place = await bench.place();
  const session = await bench.open(place);
  let arrived: (payload: Payload, at: number) => void = () => {};
  const stop = await session.run((payload) => arrived(payload, sharedNow()));
  const { store, contender } = bench;
  const producer =
    from === "two processes" ? await startProducer({ store, contender, place }) : null;
  await warmUp(session, { jobs: warmJobs, onArrival: (then) => (arrived = then) });
  const tookMs: number[] = [];
  for (let order = 0; order < WARM_SAMPLES + samples; order++) {
    await pause(2 + Math.random() * 16);
    const took = new Promise<number>((resolve) => {
      arrived = (payload, at) => payload.order === order && resolve(at - payload.at);
    });
    if (producer) producer.enqueue(order);
    else await session.enqueue(payloadOf(order, sharedNow()));
    tookMs.push(await took);
  }
  await producer?.stop();
  await stop();
  await session.close();
  const measured = tookMs.slice(WARM_SAMPLES);
  return { p50Ms: percentile(measured, 0.5), p99Ms: percentile(measured, 0.99) };
}

async function warmUp(
  session: Session,
  { jobs, onArrival }: { readonly jobs: number; onArrival(then: () => void): void },
): Promise<void> {
  for (let done = 0; done < jobs; done += WARM_TOGETHER) {
    let left = WARM_TOGETHER;
    const ran = new Promise<void>((resolve) => onArrival(() => --left === 0 && resolve()));
    const orders = Array.from({ length: WARM_TOGETHER }, () => -1);
    await Promise.all(orders.map((order) => session.enqueue(payloadOf(order, sharedNow()))));
    await ran;
  }
}

function latencyLines({ peers, target, multiple }: LatencyScenario): Line[] {
  const p50 = (variant: string) => ({ variant, metric: "p50Ms" });
  const lines: Line[] = [
    ...peers.flatMap((name) => [figure(name, "p50"), figure(name, "p99")]),
    { ...figure("holdfast", "p50"), ...(target ? { target } : {}) },
    figure("holdfast", "p99"),
  ];
  if (!multiple) return lines;
  const label = `holdfast p50 ÷ ${multiple.of} p50`;
  const by = [p50(multiple.of)];
  return [...lines, { kind: "ratio", label, of: p50("holdfast"), by, target: multiple.target }];
}

function figure(variant: string, percent: "p50" | "p99"): Line & { readonly kind: "figure" } {
  const metric = `${percent}Ms`;
  return { kind: "figure", label: `${variant} ${percent}`, unit: "ms", variant, metric };
}
