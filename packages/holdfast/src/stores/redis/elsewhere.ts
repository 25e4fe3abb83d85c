/**
 * Is a job of this id in another queue? An id is unique in the whole store, but asking every queue for
 * every new job would cost more than storing it. An id carries the time it was made, and one that was
 * made within the last minute cannot have been put into another queue before: a repeat after a lost
 * reply names the same queue. So only older ids are asked for.
 *
 * On one server the script asks, in the same step. In a cluster it cannot; there a look goes ahead.
 */
import type { InsertResult } from "../../core/store.ts";
import { readHeader } from "./header.ts";
import type { InsertHow } from "./insert.ts";
import { bytes, list } from "./reply.ts";

const FRESH_MS = 60_000;

export interface Asked {
  /** The script is to ask the other queues. */
  readonly inScript: boolean;
  /** By the index of the job. */
  readonly refusals: ReadonlyMap<number, InsertResult>;
}

export async function elsewhere(
  { server, queues }: Pick<InsertHow, "server" | "queues">,
  jobs: readonly { readonly id: string; readonly queue: string }[],
  { isKnown }: { readonly isKnown: boolean },
): Promise<Asked> {
  const isFresh = freshness();
  const doubtful = jobs.flatMap(({ id }, index) => (isKnown || !isFresh(id) ? [index] : []));
  const refusals = new Map<number, InsertResult>();
  if (doubtful.length === 0) return { inScript: false, refusals };
  if (!server.isCluster) return { inScript: true, refusals };
  const ids = doubtful.map((index) => jobs[index]?.id ?? "");
  await Promise.all(
    (await queues.all()).map(async (queue) => {
      const found = list(await server.onQueues("get", [queue], ["s", ...ids]));
      for (const [place, reply] of found.entries()) {
        const index = doubtful[place] ?? 0;
        const job = list(reply);
        // Its own queue's script answers for itself.
        if (job.length === 0 || jobs[index]?.queue === queue) continue;
        const status = job.length === 1 ? "pruned" : readHeader(bytes(job[1])).status;
        refusals.set(index, { outcome: "duplicate", id: ids[place] ?? "", status });
      }
    }),
  );
  return { inScript: false, refusals };
}

/** Ids begin with their time in digits that sort, so it is compared as it is. */
function freshness(): (id: string) => boolean {
  const now = Date.now();
  const [from, to] = [timeText(now - FRESH_MS), timeText(now + FRESH_MS)];
  return (id) => id > from && id < to;
}

function timeText(ms: number): string {
  const digits = ms.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
