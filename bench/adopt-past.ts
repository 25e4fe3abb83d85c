/**
 * Puts jobs that are over into a store, as `adopt` takes them from elsewhere: many times faster than
 * running them, and the only way to have dead ones by the thousand.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  ERROR_CATEGORIES,
  type AdoptedJob,
  type Failure,
} from "../packages/holdfast/src/core/job.ts";
import type { Store } from "../packages/holdfast/src/index.ts";
import { adoptedJob } from "../packages/holdfast/src/testing/conformance/new-job.ts";
import { JOB_TYPE, payloadOf } from "./payload.ts";

const CALLS_AT_ONCE = 2;
/** Where a store says nothing of its own. */
const USUAL_BATCH = 200;

/** They finished one after the other, as a fleet's would: nobody has died all at once. */
const PAST_MS = 3 * 86_400_000;
/** What a store adds up in one reaping, at least. */
const FOLDED_AT_ONCE = 10_000;

export interface Past {
  readonly status: "succeeded" | "dead" | "cancelled";
  readonly count: number;
  readonly queueOf: (index: number) => string;
  /** Absent: they have none. */
  readonly groupOf?: ((index: number) => string) | undefined;
  /** Dead ones died of so many faults; 0: of none that is known. */
  readonly faults?: number | undefined;
}

export async function adoptPast(store: Store, past: Past): Promise<void> {
  const { status, count, queueOf, groupOf, faults = 0 } = past;
  if (count === 0) return;
  await store.open();
  // Ids tell their millisecond: what is adopted next is newer.
  await pause(2);
  const now = Math.floor(await store.now());
  const timesAt = (index: number) => {
    const at = now - Math.floor(((count - index) / count) * PAST_MS);
    return { createdAt: at, runAt: at, startedAt: at, finishedAt: at };
  };
  const jobAt = (index: number): AdoptedJob =>
    adoptedJob({
      ...{ status, attempts: 1, ...timesAt(index) },
      queue: queueOf(index),
      ...(groupOf ? { group: groupOf(index) } : {}),
      type: JOB_TYPE,
      payload: JSON.stringify(payloadOf(index)),
      ...(status === "succeeded" ? { result: "null" } : {}),
      ...(faults > 0 ? { error: failureOf(index % faults) } : {}),
    });
  const batch = store.batchItems ?? USUAL_BATCH;
  let from = 0;
  const caller = async (): Promise<void> => {
    while (from < count) {
      const jobs = Array.from({ length: Math.min(batch, count - from) }, (_, at) =>
        jobAt(from + at),
      );
      from += batch;
      const refused = (await store.adopt(jobs)).find(({ outcome }) => outcome !== "added");
      if (refused) throw new Error(`a job was not adopted but ${refused.outcome}`);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
  // Stores add up by and by what they have counted: a fleet would have done it long ago.
  for (let folded = 0; folded < count; folded += FOLDED_AT_ONCE) await store.reap({ limit: 1 });
}

/** One fault in five categories by turns, as a person would meet them. */
function failureOf(fault: number): Failure {
  const category = ERROR_CATEGORIES[fault % ERROR_CATEGORIES.length] ?? "unknown";
  return {
    category,
    message: `fault ${fault} of the other side`,
    stack: null,
    fingerprint: `fault-${fault}`,
  };
}
