/**
 * What is kept where.
 *
 * **Everything about one job is one document**, so every change of a job is one atomic write, on a
 * standalone server as on a replica set:
 *
 * - Its idempotency key is the field `k`, unique by index. A key that ends with its job is unset by the
 *   write that ends the job.
 * - Its memory after deletion is the same document, reduced to a tombstone (`gone`). So a repeated id is
 *   a taken `_id`, and a repeated settle still finds the fence it wrote.
 * - What must follow from a settle (spawned jobs, ledger entries) is written into the document with the
 *   outcome (`owed`), then done, then cleared; whoever finds it undone does it. Every prefix of that is
 *   harmless, because all ids are fixed beforehand.
 * - Every change gives it a new `v`, and every change that was thought out here and not inside the
 *   server names the `v` it read: of two at once, one is done and the other thinks again.
 *
 * A job stands in one place, and each place is a field that exists only there, with an index of those
 * documents that have it: `ready` (in its line), `due` (later), `leased`. Finished jobs have none. A
 * status that every move writes into an index of its own costs more than all the rest: so there is
 * none, and jobs of a status are found where they stand (`find.ts`).
 * What is null or empty is absent, and so is what every new job has (`whole-job.ts`).
 */
import type {
  AttemptRecord,
  DedupeKey,
  Failure,
  JobStatus,
  LogLine,
  Progress,
  Step,
} from "../../core/job.ts";
import type { LedgerEntry, StoredEntry } from "../../core/ledger.ts";
import type { Hold } from "../../core/line.ts";
import type { Why } from "../../core/store.ts";
import type { Document } from "./driver-like.ts";

/** A job, kept. */
export interface JobDocument {
  readonly _id: string;
  readonly v: string;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly priority: number;
  /** The order of insertion, and the age inside a line. */
  readonly seq: number;
  readonly status: JobStatus;
  readonly payload: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly deferrals: number;
  readonly fence: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly runAt: number;
  readonly result?: string | null;
  readonly resultDropped?: boolean | null;
  readonly error?: Failure | null;
  readonly reason?: string | null;
  readonly by?: string | null;
  readonly progress?: Progress | null;
  readonly tags?: readonly string[] | null;
  readonly meta?: string | null;
  readonly trace?: string | null;
  readonly startedAt?: number | null;
  readonly finishedAt?: number | null;
  readonly worker?: string | null;
  readonly leaseUntil?: number | null;
  /** Which call of `lease` took it last. */
  readonly lease?: string | null;
  readonly checkpoint?: string | null;
  readonly steps?: readonly Step[] | null;
  readonly logs?: readonly LogLine[] | null;
  readonly history?: readonly AttemptRecord[] | null;
  readonly dedupe?: DedupeKey | null;
  /** Queue and key while the key is this job's, and when that ends. */
  readonly k?: string | null;
  readonly kx?: number | null;
  /** The fence of the last settle. */
  readonly settledFence?: number | null;
  /** All attempts were spent before this lease, so it added none. */
  readonly exhausted?: true | null;
  /** The count of the last renewal of this lease whose riders were written. */
  readonly ridersOrder?: number | null;
  readonly cancelWhy?: Why | null;
  /** Nobody has changed it since it was inserted, so whoever has read it knows it. */
  readonly fresh?: true | null;
  /** The queue, while it stands there. */
  readonly ready?: string | null;
  readonly due?: string | null;
  readonly leased?: string | null;
  /** The status, if it is one that somebody will look for among many: dead or cancelled. */
  readonly halted?: JobStatus | null;
  readonly owed?: readonly Owed[] | null;
  /** Which settle spawned it. */
  readonly from?: string | null;
}

/** What is remembered of a deleted job. */
export interface Tombstone {
  readonly _id: string;
  readonly v: string;
  /** Until when it is remembered. */
  readonly gone: number;
  readonly settledFence?: number;
  readonly k?: string;
  readonly kx?: number;
  readonly hash?: string;
  readonly owed?: readonly Owed[];
  readonly from?: string;
}

export type AnyJob = JobDocument | Tombstone;

/** What a settle has promised and not yet done. */
export interface Owed {
  /** Of the settle: job and fence. */
  readonly id: string;
  readonly at: number;
  readonly jobs: readonly JobDocument[];
  readonly entries: readonly EntryDocument[];
  readonly outbox: OutboxDocument | null;
}

export interface EntryDocument extends Omit<StoredEntry, "id"> {
  readonly _id: string;
  readonly seq: number;
}

export interface OutboxDocument {
  readonly _id: string;
  readonly seq: number;
  readonly entries: readonly LedgerEntry[];
}

export interface QueueDocument {
  readonly _id: string;
  readonly holds?: readonly Hold[];
  readonly maxActive?: number;
  readonly maxActivePerGroup?: number;
  readonly maxWaiting?: number;
  /** Some line of it has, or had, a cap of its own. */
  readonly hasLineCaps?: boolean;
  /** Some line of it has, or had, settings or holds. */
  readonly hasLines?: boolean;
  /** Who is leasing under caps right now. */
  readonly gate?: { readonly by: string; readonly until: number };
}

export interface LineDocument {
  /** Queue and group. */
  readonly _id: string;
  readonly queue: string;
  readonly group: string;
  readonly holds?: readonly Hold[];
  readonly maxActive?: number;
  readonly weight?: number;
}

export const COLLECTIONS = [
  "jobs",
  "queues",
  "lines",
  "ledger",
  "records",
  "outbox",
  "head",
] as const;
export type CollectionName = (typeof COLLECTIONS)[number];

function where(field: string): Document {
  return { partialFilterExpression: { [field]: { $exists: true } } };
}

export const INDEXES: Readonly<Partial<Record<CollectionName, readonly Document[]>>> = {
  jobs: [
    { name: "ready", key: { ready: 1, group: 1, priority: 1, seq: 1 }, ...where("ready") },
    { name: "due", key: { due: 1, runAt: 1, seq: 1 }, ...where("due") },
    { name: "leased", key: { leased: 1, group: 1 }, ...where("leased") },
    { name: "key", key: { k: 1 }, unique: true, sparse: true },
    { name: "order", key: { seq: 1 }, sparse: true },
    { name: "halted", key: { halted: 1, seq: 1 }, ...where("halted") },
    { name: "type", key: { type: 1, seq: 1 }, ...where("type") },
    {
      name: "finished",
      key: { queue: 1, status: 1, finishedAt: 1, seq: 1 },
      ...where("finishedAt"),
    },
    { name: "gone", key: { gone: 1 }, sparse: true },
    { name: "owed", key: { "owed.at": 1 }, sparse: true },
  ],
  lines: [{ name: "line", key: { queue: 1, group: 1 } }],
  ledger: [
    { name: "order", key: { at: 1, seq: 1 } },
    { name: "kind", key: { kind: 1, at: 1, seq: 1 } },
    { name: "job", key: { jobId: 1, at: 1, seq: 1 } },
    { name: "type", key: { type: 1, at: 1, seq: 1 } },
  ],
  records: [{ name: "expiry", key: { expiresAt: 1 }, sparse: true }],
  outbox: [{ name: "order", key: { seq: 1 } }],
};

/** Two names as one: no name contains NUL. */
export function pair(queue: string, name: string): string {
  return `${queue}\u0000${name}`;
}

/** Finished: so that the index of finished jobs can answer alone. */
export const ENDED = { $gt: -Number.MAX_SAFE_INTEGER };

export function isTombstone(document: AnyJob): document is Tombstone {
  return "gone" in document;
}
