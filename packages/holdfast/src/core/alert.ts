/**
 * What people are told without asking. An alert is raised once per subject (a queue, a fault, a store, an
 * operation) and hour over the whole fleet.
 */
import type { ErrorCategory } from "./job.ts";

/** Where the jobs that deliver alerts wait. */
export const ALERTS_QUEUE = "holdfast.alerts";

export const ALERT_KINDS = [
  ...(["spike", "lag", "depth", "memory", "dead", "unrecoverable", "operation"] as const),
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

interface AboutAlert {
  /** The same for every channel and every delivery: receivers can tell a repetition by it. */
  readonly id: string;
  /** By the store's clock. */
  readonly at: Date;
  /** One sentence for people. */
  readonly message: string;
}

/** Failed attempts of a queue reached the threshold. */
export interface SpikeAlert extends AboutAlert {
  readonly kind: "spike";
  readonly queue: string;
  /** All failed attempts within `withinMs`, counted to 10,000. */
  readonly failedLastHour: number;
  readonly threshold: number;
  readonly withinMs: number;
}

/** The longest waiting job of a queue has waited too long. */
export interface LagAlert extends AboutAlert {
  readonly kind: "lag";
  readonly queue: string;
  readonly oldestWaitingMs: number;
  readonly thresholdMs: number;
}

/** Too many jobs of a queue are ready and wait. */
export interface DepthAlert extends AboutAlert {
  readonly kind: "depth";
  readonly queue: string;
  readonly waiting: number;
  readonly threshold: number;
}

/** The store uses too much of the memory that it may use. */
export interface MemoryAlert extends AboutAlert {
  readonly kind: "memory";
  readonly store: string;
  readonly usedBytes: number;
  readonly maxBytes: number;
  /** From 0 to 1. */
  readonly share: number;
  readonly threshold: number;
}

/** Jobs died of one fault. `unrecoverable`: of missing rights (401, 403, missing scopes). */
export interface DeadAlert extends AboutAlert {
  readonly kind: "dead" | "unrecoverable";
  readonly fingerprint: string | null;
  readonly type: string;
  readonly queue: string;
  readonly category: ErrorCategory;
  /** Of all dead jobs that belong to this alert. */
  readonly count: number;
  /** The first thousand of them. */
  readonly ids: readonly string[];
  /** How many attempts the last of them had. */
  readonly attempts: number;
  /** What the last of them died of; secrets hidden. */
  readonly error: string;
  /** Why it was not tried again: `failed`, `permanent`, `crashed`, … */
  readonly reason: string;
  /** As the type's definition says. */
  readonly guidance: string | null;
  readonly link: string | null;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** An operation stopped itself: too many of its jobs failed again. */
export interface OperationAlert extends AboutAlert {
  readonly kind: "operation";
  readonly operation: string;
  readonly action: string;
  readonly done: number;
  readonly of: number;
  readonly failedAgain: number;
  readonly by: string | null;
  readonly reason: string | null;
}

export type Alert = SpikeAlert | LagAlert | DepthAlert | MemoryAlert | DeadAlert | OperationAlert;

/** From its JSON text. */
export function alertOf(text: string): Alert {
  const stored = JSON.parse(text) as Record<string, unknown>;
  for (const name of ["at", "firstAt", "lastAt"]) {
    const value = stored[name];
    if (typeof value === "string") stored[name] = new Date(value);
  }
  return stored as unknown as Alert;
}
