/** What repeats becomes a schedule of the store; an expression that is not ours is named, and left behind. */
import { HoldfastError, type Holdfast, type ScheduleOptions } from "holdfast";
import type { ForeignJob, ForeignSchedule, Source, System } from "./source.ts";
import { hash, nameOf } from "./take-over.ts";

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
  const names = namesOf(all);
  for (const [at, one] of all.entries()) {
    const name = names[at] ?? "";
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

/** At most 100 characters: its jobs have it as a tag. */
const MOST_NAME = 100;
const MARK = 8;

/**
 * Two queues may have a schedule of one name there; here the second would replace the first. Those get a mark, which
 * follows from what they are: another run finds the same names.
 */
function namesOf(all: readonly ForeignSchedule[]): readonly string[] {
  const plain = all.map(({ name }) => nameOf(name).slice(0, MOST_NAME));
  const times = new Map<string, number>();
  for (const name of plain) times.set(name, (times.get(name) ?? 0) + 1);
  return all.map(({ queue, name, type, payload, cron, timeZone, everyMs }, at) => {
    const own = plain[at] ?? "";
    if (times.get(own) === 1) return own;
    const what = JSON.stringify([queue, name, type, payload, cron, timeZone, everyMs]);
    return `${own.slice(0, MOST_NAME - MARK - 1)}-${hash(what).slice(0, MARK)}`;
  });
}

function optionsOf(one: ForeignSchedule, queue: string): ScheduleOptions {
  const job = { type: nameOf(one.type), payload: one.payload, queue };
  const { cron, timeZone, everyMs, startAfterMs } = one;
  if (cron !== null) return { cron, ...(timeZone !== null && { timeZone }), job };
  return {
    ...(everyMs !== null && { everyMs }),
    ...(startAfterMs !== null && { startAfterMs: Math.round(startAfterMs) }),
    job,
  };
}
