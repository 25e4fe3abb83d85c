/**
 * Holds follow the record of a simulation. The record is the truth: after they were set or released it is read again,
 * and what has changed meanwhile is put right. So a pause that is overtaken by a resume or an abort leaves no hold
 * behind that no one would lift.
 */
import type { WhyOptions } from "holdfast";
import { CONTROL_QUEUE, primaryQueue, recordKeys, SECONDARY_QUEUES } from "./names.ts";
import type { SimulationRecord } from "./simulation.ts";
import type { Workshop } from "./workshop.ts";

/** Where its jobs are. */
export function queuesOf({ shard }: SimulationRecord): readonly string[] {
  return [primaryQueue(shard), ...SECONDARY_QUEUES, CONTROL_QUEUE];
}

export async function followPause(
  { hf, book }: Pick<Workshop, "hf" | "book">,
  sim: SimulationRecord,
  why: WhyOptions,
): Promise<void> {
  for (let known = sim; ;) {
    const isPaused = known.status === "paused";
    for (const queue of queuesOf(sim)) {
      if (isPaused) await hf.pause({ queue, group: sim.id }, why);
      else await hf.resume({ queue, group: sim.id });
    }
    const found = await book.desk.read<SimulationRecord>(recordKeys.simulation(sim.id));
    if (found === null || (found.status === "paused") === isPaused) return;
    known = found;
  }
}
