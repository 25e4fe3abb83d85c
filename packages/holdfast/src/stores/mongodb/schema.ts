/**
 * What is kept where.
 *
 * **Everything about one job is one document**, so every change of a job is one atomic write, on a
 * standalone server as on a replica set:
 *
 * - Its idempotency key is the field `k`, unique by index. A key that ends with its job is unset by the
 *   write that ends the job.
 * - Its memory after deletion is the same document, reduced to a tombstone (`gone`). So a repeated id is
 *   taken, and a repeated settle still finds the fence it wrote.
 * - What must follow from a settle (spawned jobs, ledger entries) is written into the document with the
 *   outcome (`followUps`), then done, then cleared; whoever finds it undone does it. Every prefix of that is
 *   harmless, because all ids are fixed beforehand.
 * - Every change gives it a new `v`, and every change that was thought out here and not inside the
 *   server names the `v` it read: of two at once, one is done and the other thinks again.
 *
 * **A plain new job waits in a collection of its own**, `fresh`, which has few indexes (`fresh.ts`). A lease
 * puts what it takes of them together into documents of several jobs, packs (`packs.ts`), and takes them
 * away from there. What happens to one of them alone takes its pack apart (`unpack.ts`). The ids of packs,
 * of their stubs and of documents that were inserted alone are in one unique index, `ids`; a document that
 * came out of a pack is guarded by the stub. What is among the jobs counts: one that is fresh, too, is
 * only left over there.
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
import type { IdSpan } from "./packs/id-span.ts";

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
  /** The count of the last renewal of this lease whose updates were written. */
  readonly updatesOrder?: number | null;
  /** It had crashed before this lease, and the holder has not said that it starts. */
  readonly unstarted?: true | null;
  readonly cancelWhy?: Why | null;
  /** Nobody has changed it since it was inserted, so whoever has read it knows it. */
  readonly fresh?: true | null;
  /** The queue, while it stands there. */
  readonly ready?: string | null;
  readonly due?: string | null;
  readonly leased?: string | null;
  /** The queue, while it waits with attempts behind it. */
  readonly again?: string | null;
  /** The status, if it is one that somebody will look for among many: dead or cancelled. */
  readonly halted?: JobStatus | null;
  readonly followUps?: readonly FollowUp[] | null;
  /** Which settle spawned it. */
  readonly from?: string | null;
  /** Its own, where nothing else keeps a pack from taking it. */
  readonly ids?: string | null;
  /** Never stored: it was read from a pack. */
  readonly packed?: PackPlace;
  /** Never stored: it was read from a pack of fresh ones. */
  readonly waits?: WaitingPlace;
  /** Never stored: its payload was too long to be read before it is claimed, and has so many bytes. */
  readonly unread?: number;
}

/** Where in which pack a job is. */
export interface PackPlace {
  readonly pack: string;
  readonly index: number;
  /** How many jobs the pack was made of. */
  readonly n: number;
}

/**
 * What is each one's own of the jobs in a pack, a list for each field: a document for each job takes the
 * driver twice as long. What all have in common is said by the pack, and what none has is not said.
 */
export type PackLists = {
  /** Absent: it was not read. */
  readonly payload?: readonly string[];
  /** Without it, their numbers follow each other. */
  readonly seq?: readonly number[];
} & { readonly [Name in keyof Alike | "tags" | "meta" | "trace"]?: readonly JobDocument[Name][] };

type Alike = Partial<Pick<JobDocument, "group" | "priority" | "maxAttempts" | "createdAt">>;

/** Jobs of one type that were leased together, and nothing has set them apart since. */
export interface Pack
  extends Omit<JobDocument, keyof PackLists | "ids" | "runAt" | "updatedAt">, Alike {
  readonly ids: readonly string[];
  readonly n: number;
  /** How many of them have not ended. */
  readonly left: number;
  /** The least and the greatest of their numbers, or of those that they had in the beginning. */
  readonly first: number;
  readonly last: number;
  readonly pack: PackLists;
  readonly updatedAt?: number;
  /** When each has ended, unless all of them did at once. Then `finishedAt` is the first of them. */
  readonly ends?: Readonly<Record<string, number>>;
  readonly results?: Readonly<Record<string, Pick<JobDocument, "result" | "resultDropped">>>;
  /** It is being taken apart and changes no more. When somebody else should see to it. */
  readonly out?: number;
  /** Then it stands for these alone, by their place; absent: for all. */
  readonly stays?: readonly number[];
}

/** Jobs that wait next to each other in one line. */
export interface FreshPack
  extends Omit<Pack, "_id" | "left" | keyof Alike>, Required<Alike>, IdSpan {
  /** The first of the numbers. */
  readonly _id: number;
  /** The first of those that are left. */
  readonly seq: number;
}

/** Where a fresh job waits. */
export interface WaitingPlace {
  readonly pack: number;
  /** How many jobs waited there when it was read. */
  readonly n: number;
}

/** What is left of a pack that was taken apart: it keeps others from taking the ids of its jobs. */
export interface Stub {
  readonly _id: string;
  readonly v: string;
  readonly ids: readonly string[];
  /** When somebody should look whether its jobs are forgotten. */
  readonly out: number;
}

/** What is remembered of a deleted job, or of a pack all of whose jobs were deleted at once. */
export interface Tombstone {
  readonly _id: string;
  readonly ids?: string | readonly string[] | null;
  readonly v: string;
  /** Until when it is remembered. */
  readonly gone: number;
  readonly settledFence?: number;
  readonly k?: string;
  readonly kx?: number;
  readonly hash?: string;
  readonly followUps?: readonly FollowUp[];
  readonly from?: string;
  readonly packed?: PackPlace;
}

export type AnyJob = JobDocument | Tombstone;
/** What has the ids of several jobs. */
export type AnyPack = Pack | Stub | (Tombstone & { readonly ids: readonly string[] });

/** What a settle has promised and not yet done. */
export interface FollowUp {
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

/** A worker that never leases again, and what it knew it had. */
export interface DisownedDocument {
  /** The worker. */
  readonly _id: string;
  /** Id and fence of each of these, see `leaseName`. */
  readonly except: readonly string[];
  readonly forgetAt: number;
}

/** Beside them: a lease that its holder was promised although its job could not be written. */
export interface PromiseDocument {
  readonly _id: string;
  /** Until then it lasts. */
  readonly forgetAt: number;
}

export interface QueueDocument {
  readonly _id: string;
  readonly bornAt?: number;
  /** When somebody last knew that it is used; whoever finds that long ago says it again. */
  readonly usedAt?: number;
  readonly holds?: readonly Hold[];
  readonly maxActive?: number;
  readonly maxActivePerGroup?: number;
  readonly maxWaiting?: number;
  /** Some line of it has, or had, a cap of its own. */
  readonly hasLineCaps?: boolean;
  /** How often settings or holds of its lines were changed, and those of the last changes. */
  readonly linesRev?: number;
  readonly changed?: readonly string[];
  /** Who is leasing under caps right now. */
  readonly lock?: { readonly by: string; readonly until: number };
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

/**
 * The version of all this, which the document `store` in `head` says. What a later version adds must do no
 * harm to code of this one; where it does, the later version says in `serves` that it does not serve it.
 */
export const SCHEMA = { version: 2, serves: 1 } as const;

export interface StoreDocument {
  readonly _id: "store";
  /** Of our collections: to know a caller's transaction of the same database by. */
  readonly id: string;
  /** Absent: 1. */
  readonly version?: number;
  /** The oldest version of the code that may work with it. */
  readonly serves?: number;
}

export const COLLECTIONS = [
  "jobs",
  "fresh",
  "queues",
  "lines",
  "ledger",
  "records",
  "outbox",
  "head",
  "disowned",
  "stretches",
] as const;
export type CollectionName = (typeof COLLECTIONS)[number];

function where(field: string): Document {
  return { partialFilterExpression: { [field]: { $exists: true } } };
}

export const INDEXES: Readonly<Partial<Record<CollectionName, readonly Document[]>>> = {
  jobs: [
    {
      name: "ready",
      key: { ready: 1, group: 1, priority: 1, seq: 1, runAt: 1, createdAt: 1 },
      ...where("ready"),
    },
    { name: "due", key: { due: 1, runAt: 1, seq: 1, group: 1 }, ...where("due") },
    // A renewal moves it, and there are few; a reaping reads those that ran out, and no others.
    { name: "leased", key: { leased: 1, group: 1, left: 1, leaseUntil: 1 }, ...where("leased") },
    { name: "again", key: { again: 1, seq: 1 }, ...where("again") },
    { name: "key", key: { k: 1 }, unique: true, sparse: true },
    { name: "order", key: { seq: 1 }, sparse: true },
    // All that dead and cancelled jobs are looked for by, but their tags. Nobody else pays for it.
    {
      name: "halted",
      key: {
        ...{ halted: 1, seq: 1, queue: 1, group: 1, type: 1, createdAt: 1, finishedAt: 1 },
        ...{ "error.category": 1, "error.fingerprint": 1 },
      },
      ...where("halted"),
    },
    // The same by their time: all that a part of the dead is counted by.
    {
      name: "fallen",
      key: {
        ...{ halted: 1, finishedAt: 1, queue: 1, group: 1, type: 1, seq: 1 },
        ...{ "error.category": 1, "error.fingerprint": 1 },
      },
      ...where("halted"),
    },
    { name: "queue", key: { queue: 1, seq: 1 }, ...where("seq") },
    {
      name: "ended",
      key: { queue: 1, status: 1, seq: 1, createdAt: 1, finishedAt: 1 },
      partialFilterExpression: { finishedAt: { $exists: true }, seq: { $exists: true } },
    },
    {
      name: "finished",
      key: { status: 1, finishedAt: 1, queue: 1, seq: 1, first: 1, n: 1, left: 1 },
      ...where("finishedAt"),
    },
    { name: "first", key: { first: 1, last: 1 }, sparse: true },
    { name: "last", key: { last: 1, first: 1 }, sparse: true },
    { name: "queueFirst", key: { queue: 1, first: 1, last: 1 }, ...where("first") },
    { name: "queueLast", key: { queue: 1, last: 1, first: 1 }, ...where("last") },
    { name: "ids", key: { ids: 1 }, unique: true, sparse: true },
    { name: "out", key: { out: 1 }, sparse: true },
    { name: "gone", key: { gone: 1 }, sparse: true },
    { name: "followUps", key: { "followUps.at": 1 }, sparse: true },
  ],
  fresh: [
    { name: "ready", key: { ready: 1, group: 1, priority: 1, seq: 1, n: 1, createdAt: 1 } },
    { name: "span", key: { idFrom: 1, idTo: 1 } },
  ],
  lines: [{ name: "line", key: { queue: 1, group: 1 } }],
  ledger: [
    { name: "order", key: { at: 1, seq: 1 } },
    { name: "kind", key: { kind: 1, at: 1, seq: 1 } },
    { name: "job", key: { jobId: 1, at: 1, seq: 1 } },
    ...["queue", "type", "category", "fingerprint", "state"].map((word) => {
      return { name: `kind ${word}`, key: { kind: 1, [word]: 1, at: 1, seq: 1 } };
    }),
  ],
  records: [{ name: "expiry", key: { expiresAt: 1 }, sparse: true }],
  outbox: [{ name: "order", key: { seq: 1 } }],
};

/** Two names as one: no name contains NUL. */
export function pair(queue: string, name: string): string {
  return `${queue}\u0000${name}`;
}

/** Of all queues. */
export const ANY = { $gte: "" };

/** Finished: so that the index of finished jobs can answer alone. */
export const ENDED = { $gt: -Number.MAX_SAFE_INTEGER };

export function isTombstone(document: AnyJob | AnyPack): document is Tombstone {
  return "gone" in document;
}

export function isStub(document: AnyPack): document is Stub {
  return "out" in document && !isPack(document);
}

export function isPack(document: JobDocument | AnyPack): document is Pack {
  return "pack" in document;
}
