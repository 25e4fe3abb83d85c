/**
 * One call of a verb, as plain data. Whatever only a store can know (a lease, a record's version) and
 * every instant is named by its relation to what the callers have seen so far: so the same operation
 * can be put to two stores, and still means something when others before it were left out.
 */
import type {
  AdoptedJob,
  FinishedStatus,
  JobStatus,
  NewJob,
} from "../../packages/holdfast/src/core/job.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
} from "../../packages/holdfast/src/core/ledger.ts";
import type { HoldChange, LimitChange } from "../../packages/holdfast/src/core/line.ts";
import type { Outcome } from "../../packages/holdfast/src/core/outcome.ts";
import type {
  DeadKey,
  JobFilter,
  LeaseRequest,
  Retention,
  Updates,
} from "../../packages/holdfast/src/core/store.ts";

/** From now, by the store's clock; negative: before now. */
type InMs = number;

export type DrawnJob = Omit<NewJob, "runAt"> & { readonly dueInMs: InMs | null };

export type DrawnAdoption = Omit<
  AdoptedJob,
  "logs" | "history" | "createdAt" | "runAt" | "startedAt" | "finishedAt"
> & {
  /** So many of each. */
  readonly logs: number;
  readonly history: number;
  readonly createdInMs: InMs;
  readonly dueInMs: InMs;
  readonly startedInMs: InMs | null;
  readonly finishedInMs: InMs | null;
};

/** The lease taken so many leases ago (counting round and round), with its own fence or one that was never given out. */
export interface DrawnLease {
  readonly back: number;
  readonly fence: "own" | "low" | "high";
}

export interface DrawnWrite {
  readonly lease: DrawnLease;
  readonly updates: Updates | null;
}

export interface DrawnRenewal extends DrawnWrite {
  readonly order: number | null;
  readonly starts: boolean;
}

/** With every part; `maxBytes` null: no bound. */
export type DrawnLeaseRequest = Omit<Required<LeaseRequest>, "maxBytes"> & {
  readonly maxBytes: number | null;
};

export interface DrawnSettlement extends DrawnWrite {
  readonly outcome: Outcome;
  readonly spawn: readonly DrawnJob[] | null;
  readonly entries: readonly DrawnEntry[] | null;
  readonly outbox: readonly DrawnEntry[] | null;
  readonly discard: boolean;
}

export type DrawnEntry = Omit<LedgerEntry, "at"> & { readonly atInMs: InMs | null };

export interface DrawnFilter {
  readonly status: readonly JobStatus[] | null;
  readonly delayed: boolean | null;
  readonly queue: string | null;
  readonly group: string | null;
  readonly type: string | null;
  readonly tag: string | null;
  readonly category: NonNullable<JobFilter["category"]> | null;
  readonly fingerprint: string | null;
  readonly worker: string | null;
  readonly retrying: boolean | null;
  readonly fromInMs: InMs | null;
  readonly toInMs: InMs | null;
  readonly finishedFromInMs: InMs | null;
  readonly finishedToInMs: InMs | null;
}

export type DrawnTarget =
  | { readonly ids: readonly string[] }
  | { readonly filter: DrawnFilter; readonly frozenInMs: InMs; readonly limit: number };

export interface DrawnDue {
  readonly delayMs: number;
  readonly dueInMs: InMs | null;
}

export interface DrawnSwap {
  readonly key: string;
  /** `seen`: the version last seen of this key; `stale`: one that is surely not the current. */
  readonly expect: "none" | "seen" | "stale";
  readonly value: string | null;
  readonly ttlMs: number | null;
}

export interface DrawnRetention extends Retention {
  readonly status: FinishedStatus;
}

export interface DrawnLedgerFilter {
  readonly known: LedgerFilter;
  readonly fromInMs: InMs | null;
  readonly toInMs: InMs | null;
}

export type Operation =
  | {
      readonly verb: "insert";
      readonly jobs: readonly DrawnJob[];
      readonly evenIfFull: boolean;
      /** The jobs are others than all that were called so before; `Names` sees to it. */
      readonly areNew: boolean;
    }
  | { readonly verb: "adopt"; readonly jobs: readonly DrawnAdoption[] }
  | ({ readonly verb: "lease" } & DrawnLeaseRequest)
  | {
      readonly verb: "renew";
      readonly renewals: readonly DrawnRenewal[];
      readonly leaseMs: number;
    }
  | { readonly verb: "settle"; readonly settlements: readonly DrawnSettlement[] }
  /** A caller's own transaction, from its begin to its end. */
  | {
      readonly verb: "within";
      readonly jobs: readonly DrawnJob[];
      readonly evenIfFull: boolean;
      readonly areNew: boolean;
      readonly settlements: readonly DrawnSettlement[];
      readonly first: "insert" | "settle";
      readonly ends: "commit" | "rollback";
    }
  | { readonly verb: "reap"; readonly limit: number }
  | {
      readonly verb: "disown";
      readonly worker: string;
      readonly queues: readonly string[];
      /** `all`: whatever anybody ever leased. */
      readonly except: readonly DrawnLease[] | "all";
    }
  | { readonly verb: "cancel"; readonly target: DrawnTarget; readonly by: string | null }
  | {
      readonly verb: "revive";
      readonly target: DrawnTarget;
      readonly due: DrawnDue;
      readonly attempts: number;
      readonly payload: { readonly json: string; readonly hash: string | null } | null;
      readonly by: string | null;
    }
  | { readonly verb: "reschedule"; readonly target: DrawnTarget; readonly due: DrawnDue }
  | { readonly verb: "remove"; readonly target: DrawnTarget }
  | {
      readonly verb: "prune";
      readonly policies: readonly DrawnRetention[];
      readonly limit: number;
    }
  | { readonly verb: "hold"; readonly changes: readonly HoldChange[] }
  | { readonly verb: "limit"; readonly changes: readonly LimitChange[] }
  | { readonly verb: "get"; readonly ids: readonly string[] }
  | { readonly verb: "place"; readonly id: string }
  | {
      readonly verb: "find";
      readonly filter: DrawnFilter;
      readonly limit: number;
      readonly order: "newest" | "oldest";
    }
  | { readonly verb: "count" }
  | { readonly verb: "countDead"; readonly by: DeadKey; readonly queue: string | null }
  | { readonly verb: "lines"; readonly queue: string; readonly limit: number }
  | { readonly verb: "ledger.append"; readonly entries: readonly DrawnEntry[] }
  | {
      readonly verb: "ledger.read";
      readonly filter: DrawnLedgerFilter;
      readonly limit: number;
    }
  | { readonly verb: "ledger.amend"; readonly amendments: readonly Amendment[] }
  | {
      readonly verb: "ledger.trim";
      readonly kind: string;
      readonly olderThanMs: number | null;
      readonly keep: number | null;
      readonly limit: number;
    }
  | { readonly verb: "ledger.remove"; readonly amendments: readonly Amendment[] }
  | { readonly verb: "ledger.count"; readonly filter: DrawnLedgerFilter; readonly upTo: number }
  | { readonly verb: "records.read"; readonly keys: readonly string[] }
  | { readonly verb: "records.swap"; readonly swaps: readonly DrawnSwap[] }
  | { readonly verb: "records.scan"; readonly prefix: string; readonly limit: number }
  | { readonly verb: "outbox.read"; readonly limit: number }
  /** What was read so many items ago. */
  | { readonly verb: "outbox.clear"; readonly back: readonly number[] }
  /** Not a verb of the seam: the clock goes on, for all. */
  | { readonly verb: "advance"; readonly ms: number }
  /** Not a verb of the seam: the caller's Store object is closed, and another one opened. */
  | { readonly verb: "reopen" };

export type Verb = Operation["verb"];
/** The operations of these verbs. */
export type Of<V extends Verb> = Extract<Operation, { readonly verb: V }>;
