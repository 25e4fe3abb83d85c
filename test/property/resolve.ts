/** What an operation names by relation becomes what one store calls it, at one instant. */
import type { AdoptedJob, AttemptRecord, NewJob } from "../../packages/holdfast/src/core/job.ts";
import type { LedgerEntry, LedgerFilter } from "../../packages/holdfast/src/core/ledger.ts";
import type { Swap } from "../../packages/holdfast/src/core/records.ts";
import type {
  Due,
  JobFilter,
  LeaseRef,
  LeaseRequest,
  Renewal,
  Updates,
  Settlement,
} from "../../packages/holdfast/src/core/store.ts";
import type { Book } from "./book.ts";
import type { Look } from "./dump.ts";
import type {
  DrawnAdoption,
  DrawnDue,
  DrawnEntry,
  DrawnFilter,
  DrawnJob,
  DrawnLeaseRequest,
  DrawnLedgerFilter,
  DrawnRenewal,
  DrawnSettlement,
  DrawnSwap,
  DrawnWrite,
} from "./operation.ts";

export interface Moment extends Look {
  readonly book: Book;
  readonly now: number;
}

export function newJob({ dueInMs, ...job }: DrawnJob, { now }: Moment): NewJob {
  return { ...job, runAt: after(now, dueInMs) };
}

export function adoptedJob(drawn: DrawnAdoption, { now }: Moment): AdoptedJob {
  const { createdInMs, dueInMs, startedInMs, finishedInMs, logs, history, ...job } = drawn;
  const createdAt = now + createdInMs;
  return {
    ...job,
    logs: many(logs, (index) => ({ at: createdAt, text: `line ${index}` })),
    history: many(history, (index) => pastAttempt(index, createdAt)),
    createdAt,
    runAt: now + dueInMs,
    startedAt: after(now, startedInMs),
    finishedAt: job.status === "queued" ? null : after(now, finishedInMs),
  };
}

/** An attempt somewhere else. Its fence is small: stores never give such. */
function pastAttempt(index: number, at: number): AttemptRecord {
  const crashed = { outcome: "crashed", category: null, message: null, stack: null } as const;
  const failed = { outcome: "failed", category: "auth", message: "401", stack: "at x" } as const;
  const ended = { worker: "elsewhere", startedAt: at, endedAt: at };
  const how = index % 2 === 0 ? failed : crashed;
  return { attempt: index + 1, fence: 101 + index, ...ended, ...how };
}

function many<T>(length: number, item: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => item(index));
}

export function leaseRequest({ maxBytes, ...request }: DrawnLeaseRequest): LeaseRequest {
  return maxBytes === null ? request : { ...request, maxBytes };
}

/** Empty if it names a lease that was never taken. */
function write(
  { lease, updates }: DrawnWrite,
  { book }: Moment,
): (LeaseRef & { updates?: Updates })[] {
  const ref = book.lease(lease);
  return ref === null ? [] : [updates === null ? ref : { ...ref, updates }];
}

export function renewal({ order, starts, ...drawn }: DrawnRenewal, moment: Moment): Renewal[] {
  return write(drawn, moment).map((ref) => ({
    ...ref,
    ...(order === null ? {} : { order }),
    ...(starts ? { starts } : {}),
  }));
}

export function settlement(drawn: DrawnSettlement, moment: Moment): Settlement[] {
  const { outcome, spawn, entries, outbox, discard } = drawn;
  return write(drawn, moment).map((ref) => ({
    ...ref,
    outcome,
    spawn: (spawn ?? []).map((job) => newJob(job, moment)),
    entries: (entries ?? []).map((one) => entry(one, moment)),
    outbox: (outbox ?? []).map((one) => entry(one, moment)),
    discard,
  }));
}

export function entry({ atInMs, ...drawn }: DrawnEntry, { now }: Moment): LedgerEntry {
  return { ...drawn, at: after(now, atInMs) };
}

export function swap({ key, expect, value, ttlMs }: DrawnSwap, { book }: Moment): Swap {
  const version = { none: null, seen: book.version(key), stale: 1 }[expect];
  return { key, expect: version, value, ttlMs };
}

export function due({ delayMs, dueInMs }: DrawnDue, { now }: Moment): Due {
  return { delayMs, runAt: after(now, dueInMs) };
}

export function jobFilter(drawn: DrawnFilter, { now }: Moment): JobFilter {
  const { fromInMs, toInMs, finishedFromInMs, finishedToInMs, ...filter } = drawn;
  return given<JobFilter>({
    ...filter,
    from: after(now, fromInMs),
    to: after(now, toInMs),
    finishedFrom: after(now, finishedFromInMs),
    finishedTo: after(now, finishedToInMs),
  });
}

export function ledgerFilter(drawn: DrawnLedgerFilter, { now }: Moment): LedgerFilter {
  const { fromInMs, toInMs, known } = drawn;
  return given<LedgerFilter>({ ...known, from: after(now, fromInMs), to: after(now, toInMs) });
}

function after(now: number, ms: number | null): number | null {
  return ms === null ? null : now + ms;
}

/** Only the conditions that were drawn. */
function given<T>(filter: { readonly [K in keyof T]: T[K] | null }): T {
  const conditions = Object.entries(filter).filter(([, condition]) => condition !== null);
  return Object.fromEntries(conditions) as T;
}
