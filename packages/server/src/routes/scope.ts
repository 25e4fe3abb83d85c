/** What a caller with a scope may see. What is outside is not there. */
import type { JobView } from "holdfast";
import { sees, type Caller } from "../auth/caller.ts";
import { notFound } from "../http/http-error.ts";
import type { Call } from "./route.ts";

export async function jobInScope(
  { hf, caller }: Pick<Call, "hf" | "caller">,
  id: string,
): Promise<JobView> {
  const job = await hf.job(id.slice(0, 65));
  if (!job || !sees(caller, job.queue)) throw notFound("such job");
  return job;
}

/** The queue that a list is about: the one that was asked for, or the only one the caller has. */
export function queueInScope(caller: Caller, queue: string | undefined): string | undefined {
  if (queue !== undefined && !sees(caller, queue)) throw notFound("such queue");
  if (queue !== undefined || caller.queues === null) return queue;
  const [only, ...others] = caller.queues;
  return others.length === 0 ? only : undefined;
}

/** Null: everything passes. */
export function inScope(
  caller: Caller,
): ((item: { readonly queue: string | null }) => boolean) | null {
  return caller.queues === null ? null : ({ queue }) => sees(caller, queue);
}

/** A caller with a scope must say which of its queues an operation is about. */
export function needQueueInScope(caller: Caller, queue: string | undefined): void {
  if (caller.queues !== null && (queue === undefined || !sees(caller, queue))) {
    throw notFound("such queue");
  }
}
