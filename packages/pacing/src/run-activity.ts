/** An activity's job: does it under its external key, and notes that it was done. */
import { activityKey } from "./external-key.ts";
import type { ActivityPayload, Running } from "./jobs.ts";
import { ACTIVITIES, type ActivityType, type ScenarioParams } from "./scenario.ts";
import { unspent } from "./store-away.ts";
import { readSimulation, type Workshop } from "./workshop.ts";

/** What `act` gets. */
export interface ActivityToDo {
  readonly simulation: string;
  /** Of its record. */
  readonly index: number;
  readonly type: ActivityType;
  /** Which of its type, from 0. */
  readonly ordinal: number;
  readonly externalKey: string;
  /** What `create` gave for the record. */
  readonly record: unknown;
  readonly params: ScenarioParams;
  readonly data: unknown;
  readonly signal: AbortSignal;
  readonly job: Running<ActivityPayload>;
}

export type DoActivity = (activity: ActivityToDo) => unknown;

export function runActivity(workshop: Workshop, act: DoActivity) {
  return async (job: Running<ActivityPayload>) => {
    const { simulation, index, segment: number, type, ordinal, record } = job.payload;
    const found = await unspent(() => readSimulation(workshop, simulation));
    if (!found) return job.cancel("there is no such simulation");
    const { sim, params } = found;
    if (sim.status === "aborted") return job.cancel("the simulation was aborted");
    const { book, logger } = workshop;
    const segment = book.timeline(sim).segment(number);
    const at = ACTIVITIES.indexOf(type);
    const entry = await unspent(() => book.entry(sim, segment, index));
    const isDone = ((entry?.ran?.[at] ?? 0) & (1 << ordinal)) !== 0;
    if (isDone) return { done: "before" };
    const result = await job.step("act", async () => {
      const externalKey = activityKey(simulation, { index, type, ordinal });
      const done = await act({
        ...{ simulation, index, type, ordinal, externalKey, record, params },
        ...{ data: sim.data, signal: job.signal, job },
      });
      return { result: done ?? null };
    });
    await unspent(async () => {
      const isNew = await book.noteRun(sim, segment, { index, type: at, ordinal });
      const counted = isNew ? await book.segment(simulation, number) : null;
      if (counted?.status === "complete" && sim.status === "completed") {
        await book.recount(sim, segment);
      }
    });
    logger.debug("job completed", { simulation, index, type, ordinal, jobId: job.id });
    return result.result;
  };
}
