/** The four types of jobs that a simulation is made of. */
import { defineJob, type JobOptions, type RunningJob } from "holdfast";
import { CONTROL_QUEUE, primaryQueue, secondaryQueue } from "./names.ts";
import type { ActivityType, ScenarioParams } from "./scenario.ts";
import { classifyOurs } from "./store-away.ts";

export const RECORD_TYPE = "simulation.record";
export const ACTIVITY_TYPE = "simulation.activity";
const EXPAND_TYPE = "simulation.expand";
const WATCH_TYPE = "simulation.watch";

export interface RecordPayload {
  readonly simulation: string;
  readonly index: number;
  readonly segment: number;
  /** As they were when the segment was expanded; the job goes by those of the moment at which it runs. */
  readonly scenario_params: ScenarioParams;
}

export interface ActivityPayload {
  readonly simulation: string;
  readonly index: number;
  readonly segment: number;
  readonly type: ActivityType;
  readonly ordinal: number;
  /** What `create` gave for the record. */
  readonly record: unknown;
}

export interface ExpandPayload {
  readonly simulation: string;
  readonly segment: number;
}

export interface WatchPayload {
  readonly simulation: string;
}

/** What is said of records and activities alike. */
export type RetryWords = Pick<JobOptions, "retry" | "timeoutMs" | "classify">;

/** Of upkeep: it goes on, whatever goes wrong meanwhile. */
const PATIENT = {
  queue: CONTROL_QUEUE,
  retry: { maxAttempts: 1_000, maxMs: 30_000 },
  maxCrashes: 1_000,
  // Upkeep is due before what it keeps going.
  priority: 10,
} as const;

export function jobsOf(given: RetryWords) {
  const words = { ...given, classify: classifyOurs(given.classify) };
  return {
    record: defineJob<RecordPayload>({
      ...{ ...words, type: RECORD_TYPE, queue: primaryQueue(0), onConflict: "return" },
    }),
    activity: defineJob<ActivityPayload>({
      ...{ ...words, type: ACTIVITY_TYPE, queue: secondaryQueue("note"), onConflict: "return" },
    }),
    expand: defineJob<ExpandPayload>({ ...PATIENT, type: EXPAND_TYPE }),
    watch: defineJob<WatchPayload>({ ...PATIENT, type: WATCH_TYPE }),
  };
}

export type Jobs = ReturnType<typeof jobsOf>;
export type Running<Payload> = RunningJob<Payload, unknown>;
