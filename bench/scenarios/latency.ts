/**
 * How long an idle system takes from the call of enqueue to the start of the handler: in one process,
 * and with the producer in another. One job at a time, with a random pause before each, so that nobody
 * gains by polling in step.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Payload } from "../payload.ts";
import { payloadOf, sharedNow } from "../payload.ts";
import { startProducer } from "../producer.ts";
import type { Line, MeasureBench, Metrics, Scenario, Size, Target, Variant } from "../scenario.ts";
import { percentile } from "../statistics.ts";

export const latency: Scenario = {
  name: "latency",
  title: "idle latency from enqueue to the handler's start, same process",
  variants: (size) => bothOf(size, "same process"),
  lines: latencyLines({ below: 1 }),
};

export const latencyAcross: Scenario = {
  name: "latency-across",
  title: "idle latency from enqueue to the handler's start, producer in another process",
  variants: (size) => bothOf(size, "two processes"),
  lines: latencyLines({ below: 25 }),
};

const WARM_SAMPLES = 20;

function bothOf({ quick }: Size, from: "same process" | "two processes"): Variant[] {
  const samples = quick ? 20 : 250;
  return ["plainjob", "holdfast"].map((contender) => ({
    label: contender,
    contender,
    measure: (bench) => measure(bench, { samples, from }),
  }));
}

async function measure(
  bench: MeasureBench,
  { samples, from }: { readonly samples: number; readonly from: "same process" | "two processes" },
): Promise<Metrics> {
  const place = await bench.place();
  const session = await bench.open(place);
  let arrived: (payload: Payload, at: number) => void = () => {};
  const stop = await session.run((payload) => arrived(payload, sharedNow()));
  const { store, contender } = bench;
  const producer =
    from === "two processes" ? await startProducer({ store, contender, place }) : null;
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

function latencyLines(target: Target): Line[] {
  return [
    figure("plainjob", "p50"),
    figure("plainjob", "p99"),
    { ...figure("holdfast", "p50"), target },
    figure("holdfast", "p99"),
  ];
}

function figure(variant: string, percent: "p50" | "p99"): Line & { readonly kind: "figure" } {
  const metric = `${percent}Ms`;
  return { kind: "figure", label: `${variant} ${percent}`, unit: "ms", variant, metric };
}
