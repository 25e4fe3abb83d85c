/** The latency of an idle system: in one process, and with the producer in another. */
import { type Course, latenciesOf } from "../latencies.ts";
import { startProducer } from "../producer.ts";
import type { Line, MeasureBench, Metrics, Scenario, Size, Target, Variant } from "../scenario.ts";
import { percentile } from "../statistics.ts";

export interface LatencyScenario {
  readonly peers: readonly string[];
  /** In milliseconds. */
  readonly target?: Target;
  /** As a multiple of a peer's. */
  readonly multiple?: { readonly of: string; readonly target: Target };
  /** Also one job right after the other, for Holdfast and the peer of `multiple`. */
  readonly backToBack?: boolean;
}

type From = "same process" | "two processes";
const BACK_TO_BACK = " back to back";

export function latency(scenario: LatencyScenario): Scenario {
  return {
    name: "latency",
    title: "idle latency from enqueue to the handler's start, same process",
    variants: (size) => variantsOf(scenario, size, "same process"),
    lines: latencyLines(scenario),
  };
}

export function latencyAcross(scenario: LatencyScenario): Scenario {
  return {
    name: "latency-across",
    title: "idle latency from enqueue to the handler's start, producer in another process",
    variants: (size) => variantsOf(scenario, size, "two processes"),
    lines: latencyLines(scenario),
  };
}

function variantsOf(scenario: LatencyScenario, { quick }: Size, from: From): Variant[] {
  const sizes = quick ? { warmJobs: 100, samples: 20 } : { warmJobs: 2_000, samples: 250 };
  const variant = (contender: string, pauses: Course["pauses"]): Variant => ({
    label: pauses === "none" ? contender + BACK_TO_BACK : contender,
    contender,
    measure: (bench) => measure(bench, { ...sizes, pauses }, from),
  });
  return [
    ...[...scenario.peers, "holdfast"].map((name) => variant(name, "random")),
    ...backToBackOf(scenario).map((name) => variant(name, "none")),
  ];
}

function backToBackOf({ backToBack = false, multiple }: LatencyScenario): string[] {
  return backToBack ? [...(multiple ? [multiple.of] : []), "holdfast"] : [];
}

async function measure(bench: MeasureBench, course: Course, from: From): Promise<Metrics> {
  const { store, contender } = bench;
  const place = await bench.place();
  const session = await bench.open(place);
  const producer =
    from === "two processes" ? await startProducer({ store, contender, place }) : null;
  const tookMs = await latenciesOf(session, { ...course, enqueue: producer?.enqueue });
  await producer?.stop();
  await session.close();
  return { p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) };
}

function latencyLines(scenario: LatencyScenario): Line[] {
  const { peers, target, multiple } = scenario;
  const again = backToBackOf(scenario).map((name) => name + BACK_TO_BACK);
  const lines: Line[] = [
    ...peers.flatMap((name) => [figure(name, "p50"), figure(name, "p99")]),
    { ...figure("holdfast", "p50"), ...(target ? { target } : {}) },
    figure("holdfast", "p99"),
    ...again.flatMap((name) => [figure(name, "p50"), figure(name, "p99")]),
  ];
  if (!multiple) return lines;
  const suffixes = again.length > 0 ? ["", BACK_TO_BACK] : [""];
  return [...lines, ...suffixes.map((suffix) => multipleLine(multiple, suffix))];
}

function multipleLine(
  { of, target }: NonNullable<LatencyScenario["multiple"]>,
  suffix: string,
): Line {
  const p50 = (contender: string) => ({ variant: contender + suffix, metric: "p50Ms" });
  const label = `holdfast p50 ÷ ${of} p50${suffix && `,${suffix}`}`;
  return { kind: "ratio", label, of: p50("holdfast"), by: [p50(of)], target };
}

function figure(variant: string, percent: "p50" | "p99"): Line & { readonly kind: "figure" } {
  const metric = `${percent}Ms`;
  return { kind: "figure", label: `${variant} ${percent}`, unit: "ms", variant, metric };
}
