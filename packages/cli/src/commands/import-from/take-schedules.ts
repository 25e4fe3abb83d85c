/** What repeats becomes a schedule of the store; an expression that is not ours is named, and left behind. */
import { HoldfastError, type Holdfast, type ScheduleOptions } from "holdfast";
import type { ForeignJob, ForeignSchedule, Source, System } from "./source.ts";
import { nameOf } from "./take-over.ts";

export interface TakenSchedules {
  readonly found: number;
  readonly set: number;
  /** With why. */
  readonly refused: readonly string[];
}

export interface TakeSchedulesOptions {
  /** Null: a dry run. */
  readonly hf: Holdfast | null;
  readonly queueOf: (job: Pick<ForeignJob, "type" | "queue">) => string;
  readonly system: System;
}

export async function takeSchedules(
  source: Source,
  { hf, queueOf, system }: TakeSchedulesOptions,
): Promise<TakenSchedules> {
  const all = await source.schedules();
  const refused: string[] = [];
  let set = 0;
  if (hf === null) return { found: all.length, set, refused };
  const why = { by: `import-from ${system}`, reason: "taken over" };
  const known = new Set((await hf.schedules.list({ limit: 10_000 })).map(({ name }) => name));
  for (const one of all) {
    // At most 100 characters: its jobs have it as a tag.
    const name = nameOf(one.name).slice(0, 100);
    try {
      // One that is here may have been changed here since.
      if (!known.has(name)) {
        await hf.schedules.set(name, optionsOf(one, queueOf(one)), why);
        if (one.isPaused) await hf.schedules.pause(name, why);
      }
      set += 1;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      refused.push(`${one.name} (${error.message})`);
    }
  }
  return { found: all.length, set, refused };
}

function optionsOf(one: ForeignSchedule, queue: string): ScheduleOptions {
  const job = { type: one.type, payload: one.payload, queue };
  const { cron, timeZone, everyMs, startAfterMs } = one;
  if (cron !== null) return { cron, ...(timeZone !== null && { timeZone }), job };
  return {
    ...(everyMs !== null && { everyMs }),
    ...(startAfterMs !== null && { startAfterMs: Math.round(startAfterMs) }),
    job,
  };
}
