/**
 * A world so small that a random walk meets itself all the time: few jobs, few names, and durations
 * that fall on each other, so that "due at this very instant" is an everyday case.
 */
import type { NewJob } from "../../core/job.ts";

export const QUEUES = ["mail", "sms"] as const;
export type QueueName = (typeof QUEUES)[number];
export const GROUPS = ["", "ann", "bob"] as const;
export const TYPES = ["send", "track"] as const;
export const KEYS = ["k1", "k2"] as const;
export const TAGS = ["red", "blue"] as const;
export const RECORD_KEYS = ["gate:a", "gate:b", "gates", "lock:a"] as const;
export const ENTRY_IDS = ["entry-1", "entry-2", "entry-3", "entry-4", "entry-5"] as const;

/** The last one is as long as deleted jobs are remembered by default. */
export const DURATIONS_MS = [0, 1, 10, 1_000, 60_000, 3_600_000] as const;

export const JOB_IDS: readonly NewJob["id"][] = Array.from(
  { length: 16 },
  (_, number) => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`,
);

/** For people: `job-7`. */
export function shortId(id: string): string {
  const number = JOB_IDS.indexOf(id);
  return number === -1 ? id : `job-${number}`;
}
