/**
 * A world so small that a random walk meets itself all the time: few jobs, few names, and durations
 * that fall on each other, so that "due at this very instant" is an everyday case.
 */
import type { NewJob } from "../../packages/holdfast/src/core/job.ts";

export const QUEUES = ["mail", "sms"] as const;
export type QueueName = (typeof QUEUES)[number];
export const GROUPS = ["", "ann", "bob"] as const;
export const TYPES = ["send", "track"] as const;
export const KEYS = ["k1", "k2"] as const;
export const TAGS = ["red", "blue"] as const;
export const RECORD_KEYS = ["gate:a", "gate:b", "gates", "lock:a"] as const;
export const ENTRY_IDS = ["entry-1", "entry-2", "entry-3", "entry-4", "entry-5"] as const;

/** Lone small ones, and one that fills most bounds in bytes by itself. */
export const PAYLOADS = ["{}", '{"to":"ann"}', '"grüße ☃\\n"', `"${"x".repeat(100)}"`] as const;

/** More than all payloads of a run together: a bound that leaves nothing behind. */
export const ROOMY_BYTES = 1_000_000;

export const WORKERS = ["worker-1", "worker-2", "worker-3"] as const;
/** The others disown nothing: what crashes under a disowned id is charged to nobody for an hour. */
export const DISOWNING_WORKERS = WORKERS.slice(0, 2);

/** The last one is as long as deleted jobs are remembered by default. */
export const DURATIONS_MS = [0, 1, 10, 1_000, 60_000, 3_600_000] as const;

const START = "01900000-0000-7000-8000-";
/** Digits of the number of a name. */
const NUMBER = 8;

export const JOB_IDS: readonly NewJob["id"][] = Array.from(
  { length: 16 },
  (_, number) => START + String(number).padStart(12, "0"),
);

/** Of the n-th new job that has this name; 0: of the one that need not be new. */
export function jobId(name: NewJob["id"], nth: number): NewJob["id"] {
  return START + String(nth).padStart(12 - NUMBER, "0") + name.slice(-NUMBER);
}

/** For people: `job-7`, or `job-7.2` of the second new one of that name. */
export function shortId(id: string): string {
  if (!id.startsWith(START)) return id;
  const digits = id.slice(START.length);
  const nth = Number(digits.slice(0, -NUMBER));
  return `job-${Number(digits.slice(-NUMBER))}${nth === 0 ? "" : `.${nth}`}`;
}
