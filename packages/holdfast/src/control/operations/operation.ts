/**
 * An operation does one thing to many jobs, and survives its process: what it is to do, how far it is and what
 * came of it are records. A plan freezes the ids; any process with a worker carries it on, step by step.
 *
 *   planned ─start─▶ running ◀─pause, resume─▶ paused
 *                      │
 *                      ├─ every id was dealt with ─▶ settling ─ outcomes are known ─▶ finished
 *                      ├─ abort ─▶ aborted
 *                      └─ too many failed again ─▶ stopped
 */
import type { StoredJob } from "../../core/job.ts";
import type { JobFilter } from "../../core/store.ts";

export const ACTIONS = ["retry", "cancel", "remove", "reschedule"] as const;
/** What a filter finds can be done to it; `erase` is asked for by `hf.erase` alone. */
export type Action = (typeof ACTIONS)[number] | "erase";
export type OperationState =
  "planned" | "running" | "paused" | "settling" | "finished" | "aborted" | "stopped";

export interface OperationRecord {
  readonly id: string;
  readonly action: Action;
  readonly filter: JobFilter & { readonly text?: string };
  readonly state: OperationState;
  /** How many ids it has, in how many records. */
  readonly count: number;
  readonly chunks: number;
  readonly byCategory: Readonly<Record<string, number>>;
  readonly how: {
    /** Of a retry: how many attempts each job gets. */
    readonly attempts?: number | "full";
    /** Of a reschedule. */
    readonly delayMs?: number;
  };
  readonly perSecond: number | null;
  readonly stopAtFailureRate: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly plannedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Since when it has been running, and how long it ran before it was paused: for its pace. */
  readonly resumedAt: number | null;
  readonly ranMs: number;
  /** The next id to deal with, and what came of those before. */
  readonly next: number;
  readonly done: number;
  readonly refused: number;
  readonly missing: number;
  /** Of the jobs that it retried, by chunk: how many succeeded, and how many are dead again. */
  readonly outcomes: readonly Outcomes[];
  /** By chunk: how many ids were gone before it came to them. Absent: by a version that did not count them so. */
  readonly gone?: readonly number[];
  /** Which process deals with it now, and until when others leave it alone. */
  readonly carrier: { readonly id: string; readonly until: number } | null;
  /** False: it is over, and the log and the ledger may not say so yet. */
  readonly told?: boolean;
  /** The step that was begun, for whoever must repeat it. */
  readonly step: BegunStep | null;
  /** Retried jobs whose failures are to be marked as set right. */
  readonly unmarked?: readonly Unmarked[];
  /** Of an erasure. */
  readonly erase?: EraseState;
}

/** `attempts`: how many the job had had when it was retried. */
export type Unmarked = readonly [id: string, attempts: number];

/** `over`: of how many ids there is nothing more to wait for. Absent: by a version that did not count them. */
export type Outcomes = readonly [succeeded: number, dead: number, over?: number];

export interface BegunStep {
  readonly from: number;
  readonly to: number;
  /** How many of its ids were gone before it. */
  readonly gone: number;
  /** When it was first begun. Absent: by a version that did not note it. */
  readonly at?: number | undefined;
}

/** How far an erasure is, and what it has removed. */
export interface EraseState {
  readonly phase: "jobs" | "entries" | "locks";
  readonly cursor: string | null;
  /** Something was met in this pass that could not be removed yet. */
  readonly isLeft: boolean;
  /** When to look for entries that were on their way; null: not known yet. */
  readonly againAt: number | null;
  readonly jobs: number;
  readonly entries: number;
  readonly locks: number;
}

export interface IdRef {
  readonly id: string;
  readonly queue: string;
}

export const CHUNK = 500;
/** Of outcomes, before a rate means anything. */
const LEAST_OUTCOMES = 10;

export const isOver = ({ state }: OperationRecord): boolean =>
  state === "finished" || state === "aborted" || state === "stopped";

export const isActive = ({ state }: OperationRecord): boolean =>
  state === "running" || state === "settling";

/** How many ids may be dealt with now without going over its pace. */
export function allowance(operation: OperationRecord, now: number): number {
  const { perSecond, ranMs, resumedAt, next, count } = operation;
  const left = count - next;
  if (perSecond === null) return left;
  const elapsedMs = ranMs + (resumedAt === null ? 0 : Math.max(0, now - resumedAt));
  const due = Math.floor((elapsedMs / 1_000) * perSecond) + 1;
  return Math.max(0, Math.min(left, due - next));
}

/** What a fleet that was away would be behind by, beyond these two seconds, is not made up for in a burst. */
const MOST_BEHIND_MS = 2_000;

export function withoutBacklog(operation: OperationRecord, now: number): OperationRecord {
  const { perSecond, ranMs, resumedAt, next } = operation;
  if (perSecond === null || resumedAt === null) return operation;
  const neededMs = (next / perSecond) * 1_000;
  const behindMs = ranMs + now - resumedAt - neededMs;
  if (behindMs <= MOST_BEHIND_MS) return operation;
  return { ...operation, ranMs: neededMs, resumedAt: now - MOST_BEHIND_MS };
}

export function outcomesOf({ outcomes }: OperationRecord): {
  succeeded: number;
  failedAgain: number;
} {
  let [succeeded, failedAgain] = [0, 0];
  for (const [ok, dead] of outcomes) {
    succeeded += ok;
    failedAgain += dead;
  }
  return { succeeded, failedAgain };
}

/** Nothing more will be known of the jobs that it has dealt with. */
export function isKnown({ outcomes, next }: OperationRecord): boolean {
  return outcomes.reduce((sum, [, , over = 0]) => sum + over, 0) >= next;
}

export function failsTooOften(operation: OperationRecord): boolean {
  const { stopAtFailureRate } = operation;
  const { succeeded, failedAgain } = outcomesOf(operation);
  const known = succeeded + failedAgain;
  if (stopAtFailureRate === null || known < LEAST_OUTCOMES) return false;
  return failedAgain / known > stopAtFailureRate;
}

/** What a person did to it; null if its state does not allow that. */
export function commanded(
  operation: OperationRecord,
  command: "pause" | "resume" | "abort",
  now: number,
): OperationRecord | null {
  const { state, ranMs, resumedAt } = operation;
  const ran = ranMs + (resumedAt === null ? 0 : now - resumedAt);
  switch (command) {
    case "pause":
      return state === "running"
        ? { ...operation, state: "paused", ranMs: ran, resumedAt: null }
        : null;
    case "resume":
      return state === "paused" ? { ...operation, state: "running", resumedAt: now } : null;
    case "abort":
      if (isOver(operation) || state === "settling") return null;
      return { ...operation, state: "aborted", ranMs: ran, resumedAt: null, endedAt: now };
  }
}

type Found = StoredJob | "pruned" | null | undefined;

export function isGone(job: Found): job is Exclude<Found, StoredJob> {
  return job === null || job === undefined || job === "pruned";
}
