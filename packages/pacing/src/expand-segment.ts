/**
 * Makes the jobs of a segment. A number is claimed once and in order; the jobs are enqueued in parts, each with a
 * key of its own, and a checkpoint says how far it came. So memory is bounded, and a worker that is killed leaves
 * nothing out and nothing twice.
 */
import type { ExpandPayload, Running } from "./jobs.ts";
import { CONTROL_QUEUE, jobKeys, primaryQueue, tags } from "./names.ts";
import type { ScenarioParams } from "./scenario.ts";
import type { SimulationRecord } from "./simulation.ts";
import type { Segment } from "./timeline.ts";
import { unspent } from "./store-away.ts";
import { readSimulation, type Workshop } from "./workshop.ts";

const PART = 500;

/** What an expansion needs of the job in which it happens. */
export interface Carrier {
  readonly signal: AbortSignal;
  save(checkpoint: unknown): Promise<void>;
}

interface Checkpoint {
  readonly segment: number;
  readonly next: number;
}

export function runExpansion(workshop: Workshop) {
  return async (job: Running<ExpandPayload>) => {
    const { simulation, segment } = job.payload;
    const found = await unspent(() => readSimulation(workshop, simulation));
    if (!found) return job.cancel("there is no such simulation");
    if (found.sim.status === "aborted") return job.cancel("the simulation was aborted");
    const carrier = { signal: job.signal, save: (at: unknown) => job.save(at) };
    const from = (job.checkpoint ?? null) as Checkpoint | null;
    const until = await unspent(() => timeLimit(workshop, found.sim, segment));
    const isRepeated = job.attempt > 1 || from !== null;
    return unspent(() =>
      expandFrom(workshop, found, { segment, from, isRepeated, carrier, until }),
    );
  };
}

/** Asks for the expansion of the segment after this one: once, whoever asks. */
export async function expandNext(
  workshop: Workshop,
  sim: SimulationRecord,
  segment: number,
): Promise<void> {
  const { logger, book } = workshop;
  logger.info("segment completed", { simulation: sim.id, segment });
  const next = segment + 1;
  const isLast = next >= book.timeline(sim).segmentCount;
  if (sim.policy === "strict" && !isLast) await askFor(workshop, sim, next);
}

export async function askFor(
  { hf, jobs }: Workshop,
  { id }: SimulationRecord,
  segment: number,
): Promise<void> {
  await hf.enqueue(
    jobs.expand,
    { simulation: id, segment },
    {
      ...{ group: id, queue: CONTROL_QUEUE, tags: [tags.simulation(id)], onConflict: "return" },
      idempotencyKey: jobKeys.expansion(id, segment),
    },
  );
}

/** Until when segments may begin that are expanded with this one: by `strict` any, for the one before is done. */
export async function timeLimit({ hf }: Workshop, sim: SimulationRecord, segment: number) {
  if (sim.policy === "strict") return Infinity;
  const now = (await hf.storeTime()).getTime();
  // The first is expanded at the start, whenever it begins.
  return Math.max(now, segment === 0 ? sim.plan.start : 0);
}

/** Expands this segment, or the first after it that is not empty. Answers which one, or null. */
export async function expandFrom(
  workshop: Workshop,
  { sim, params }: { readonly sim: SimulationRecord; readonly params: ScenarioParams },
  how: {
    readonly segment: number;
    readonly from: Checkpoint | null;
    /** An attempt before this one may have claimed it. */
    readonly isRepeated: boolean;
    readonly carrier: Carrier;
    /** `by-time`: segments that begin later are left alone. */
    readonly until: number;
  },
): Promise<{ readonly segment: number; readonly jobs: number } | null> {
  const { book } = workshop;
  const timeline = book.timeline(sim);
  for (let number = how.segment; number < timeline.segmentCount; number += 1) {
    const segment = timeline.segment(number);
    if (segment.start > how.until) return null;
    const claimed = await book.claim(sim.id, number, segment.count === 0);
    if (claimed === "early") return null;
    if (claimed === "done" && segment.count > 0) return null;
    // Another one is at it. If that one dies, the upkeep finds out.
    if (claimed === "again" && !how.isRepeated) return null;
    if (segment.count === 0) continue;
    const from = how.from?.segment === number ? how.from.next : segment.firstIdx;
    await enqueueSegment(workshop, { sim, params, segment, from }, how.carrier);
    return { segment: number, jobs: segment.count };
  }
  return null;
}

export async function enqueueSegment(
  { hf, jobs, book, logger }: Workshop,
  of: {
    readonly sim: SimulationRecord;
    readonly params: ScenarioParams;
    readonly segment: Segment;
    readonly from: number;
  },
  { signal, save }: Carrier,
): Promise<void> {
  const { sim, params, segment, from } = of;
  const { id } = sim;
  const timeline = book.timeline(sim);
  await book.summarize(sim, segment, "expanding");
  for (let next = from; next <= segment.lastIdx; next += PART) {
    signal.throwIfAborted();
    const count = Math.min(PART, segment.lastIdx - next + 1);
    const items = Array.from({ length: count }, (_, at) => {
      const index = next + at;
      const payload = { simulation: id, index, segment: segment.number, scenario_params: params };
      return jobs.record.of(payload, {
        ...{ queue: primaryQueue(sim.shard), group: id, runAt: new Date(timeline.at(index)) },
        tags: [tags.simulation(id), tags.segment(id, segment.number)],
        idempotencyKey: jobKeys.record(id, index),
      });
    });
    for (const answer of await hf.enqueueAll(items)) {
      if (answer.status === "refused") throw answer.error;
    }
    await save({ segment: segment.number, next: next + count } satisfies Checkpoint);
  }
  await book.summarize(sim, segment, "expanded");
  logger.info("segment expanded", {
    ...{ simulation: id, segment: segment.number, jobs: segment.count, shard: sim.shard },
    ...{ firstIdx: segment.firstIdx, lastIdx: segment.lastIdx },
  });
}
