/**
 * Leasing in a scenario. A store may answer fewer than asked while work remains, even none, only
 * not for ever: so these ask again until they have what they want, or heard "nothing" often enough.
 */
import assert from "node:assert/strict";
import type { LeasedJob, LeaseRequest, Store } from "../../core/store.ts";
import { BATCH_ITEMS } from "../../core/job.ts";
import { QUEUE } from "./new-job.ts";
import { LONG_MS } from "./times.ts";

/** So many empty replies in a row mean that there is nothing. */
const PATIENCE = 4;
/** While a store says that more is ready, it is believed for longer, but not for ever. */
const PATIENCE_WHILE_READY = 40;

export interface TakeOptions {
  readonly queue?: string;
  /** Several queues in one lease; instead of `queue`. */
  readonly queues?: readonly string[];
  readonly cappedLimit?: number;
  readonly maxBytes?: number;
  readonly worker?: string;
  readonly leaseMs?: number;
}

export function leaseRequest(limit: number, options: TakeOptions = {}): LeaseRequest {
  const { queue = QUEUE, queues = [queue], worker = "worker-1", leaseMs = LONG_MS } = options;
  return {
    worker,
    leaseMs,
    limit,
    ...(options.cappedLimit === undefined ? {} : { cappedLimit: options.cappedLimit }),
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    queues: queues.map((name) => ({ queue: name, limit })),
  };
}

/** Up to `count` jobs, in the order they were handed out. */
export async function take(
  store: Store,
  count: number,
  options: TakeOptions = {},
): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  let patience = PATIENCE;
  for (let emptyReplies = 0; jobs.length < count && emptyReplies < patience;) {
    const limit = Math.min(count - jobs.length, BATCH_ITEMS);
    const reply = await store.lease(leaseRequest(limit, options));
    assert.ok(reply.jobs.length <= limit, "a lease never hands out more than asked");
    jobs.push(...reply.jobs);
    emptyReplies = reply.jobs.length > 0 ? 0 : emptyReplies + 1;
    patience = reply.nextInMs === 0 ? PATIENCE_WHILE_READY : PATIENCE;
  }
  return jobs;
}

/** Exactly `count` jobs. */
export async function takeExactly(
  store: Store,
  count: number,
  options: TakeOptions = {},
): Promise<LeasedJob[]> {
  const jobs = await take(store, count, options);
  assert.equal(jobs.length, count, "as many jobs are handed out as are ready");
  return jobs;
}

export async function takeOne(store: Store, options: TakeOptions = {}): Promise<LeasedJob> {
  const [job] = await takeExactly(store, 1, options);
  assert.ok(job);
  return job;
}

/** One job a call, so that the order of the calls is the order of the jobs. */
export async function takeOneByOne(
  store: Store,
  count: number,
  options: TakeOptions = {},
): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  while (jobs.length < count) jobs.push(await takeOne(store, options));
  return jobs;
}

export async function takeNothing(store: Store, options: TakeOptions = {}): Promise<void> {
  const jobs = await take(store, 1, options);
  assert.deepEqual(
    jobs.map((job) => job.id),
    [],
    "nothing is handed out",
  );
}
