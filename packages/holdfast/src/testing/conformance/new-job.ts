/** Jobs to put into a store: complete ones, of which a scenario names only what it is about. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { AdoptedJob, DedupeKey, KeyLifetime, NewJob } from "../../core/job.ts";
import { BATCH_ITEMS } from "../../core/job.ts";
import type { Store } from "../../core/store.ts";
import { uuidV7 } from "../../core/uuid.ts";

/** The queue of every job that names no other. */
export const QUEUE = "mail";

export function newId(): string {
  return uuidV7(Date.now(), randomBytes(10));
}

export function newJob(overrides: Partial<NewJob> = {}): NewJob {
  return {
    id: newId(),
    queue: QUEUE,
    group: "",
    type: "email.send",
    payload: "{}",
    priority: 100,
    delayMs: 0,
    runAt: null,
    maxAttempts: 5,
    dedupe: null,
    tags: [],
    meta: null,
    trace: null,
    ...overrides,
  };
}

export function newJobs(count: number, overrides: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => newJob(overrides));
}

export function key(name: string, lifetime: KeyLifetime = "kept", hash = "hash-1"): DedupeKey {
  return { key: name, hash, lifetime };
}

/** A job from elsewhere that waits to be run; `createdAt` and `runAt` are long past. */
export function adoptedJob(overrides: Partial<AdoptedJob> = {}): AdoptedJob {
  return {
    id: newId(),
    queue: QUEUE,
    group: "",
    type: "email.send",
    status: "queued",
    priority: 100,
    payload: "{}",
    result: null,
    attempts: 0,
    maxAttempts: 5,
    crashes: 0,
    fence: 0,
    error: null,
    reason: null,
    checkpoint: null,
    steps: [],
    logs: [],
    history: [],
    dedupe: null,
    tags: [],
    meta: null,
    trace: null,
    createdAt: 1_000_000,
    runAt: 1_000_000,
    startedAt: null,
    finishedAt: null,
    ...overrides,
  };
}

/** Inserts jobs that must all be new, in as many calls as that takes. */
export async function insertAll(store: Store, jobs: readonly NewJob[]): Promise<void> {
  for (let from = 0; from < jobs.length; from += BATCH_ITEMS) {
    const batch = jobs.slice(from, from + BATCH_ITEMS);
    const expected = batch.map((job) => ({ outcome: "added", id: job.id }));
    assert.deepEqual(await store.insert(batch, { areNew: true }), expected);
  }
}

/** Inserts one job and answers it. */
export async function insertOne(store: Store, overrides: Partial<NewJob> = {}): Promise<NewJob> {
  const job = newJob(overrides);
  await insertAll(store, [job]);
  return job;
}

/** Inserts so many alike and answers them, in their order. */
export async function insertSome(
  store: Store,
  count: number,
  overrides: Partial<NewJob> = {},
): Promise<NewJob[]> {
  const jobs = newJobs(count, overrides);
  await insertAll(store, jobs);
  return jobs;
}

export async function adoptAll(store: Store, jobs: readonly AdoptedJob[]): Promise<void> {
  const expected = jobs.map((job) => ({ outcome: "added", id: job.id }));
  assert.deepEqual(await store.adopt(jobs), expected);
}

export async function adoptOne(
  store: Store,
  overrides: Partial<AdoptedJob> = {},
): Promise<AdoptedJob> {
  const job = adoptedJob(overrides);
  await adoptAll(store, [job]);
  return job;
}

export function idsOf(jobs: readonly { readonly id: string }[]): string[] {
  return jobs.map((job) => job.id);
}

/** For comparing sets of ids where the order says nothing. */
export function sortedIdsOf(jobs: readonly { readonly id: string }[]): string[] {
  return idsOf(jobs).toSorted();
}
