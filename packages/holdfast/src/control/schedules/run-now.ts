/**
 * One more run of a schedule, by hand. As a tick it is begun in the record, with the id of its job: whoever asks again
 * because no answer came goes on with what was begun, and makes no second job.
 */
import { runBegun, runMarked, type ScheduleState } from "../../core/schedule.ts";
import type { Why } from "../../core/store.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { patiently } from "../records/patiently.ts";
import { tickJob } from "./schedule-options.ts";
import { changeSchedule } from "./schedule-records.ts";
import { tickEntry } from "./tick-entries.ts";

/** Answers the id of its job. Null: there is no schedule of this name. */
export async function runNow(host: ExtensionHost, name: string, why: Why): Promise<string | null> {
  const own = { id: host.runtime.id(), at: await host.jobs.now() };
  const begin = (state: ScheduleState | null) => state && runBegun(state, own);
  const begun = await patiently(host, () => changeSchedule(host, name, begin));
  if (!begun?.run) return null;
  const { id, at } = begun.run;
  const job = begun.run.job ?? begun.definition.job;
  const stored = tickJob(job, { name, id, at });
  await patiently(host, () => host.jobs.insert([stored], { evenIfFull: true }));
  if (host.hasLedger) {
    const tick = { at, state: "fired", jobId: id, isManual: true, ...why } as const;
    await patiently(host, () => host.record([tickEntry(name, job, tick)]));
  }
  const mark = (state: ScheduleState | null) => state && runMarked(state, id);
  await patiently(host, () => changeSchedule(host, name, mark));
  return id;
}
