import type { ReapedJob } from "../../core/store.ts";
import { readHeader } from "./header.ts";
import type { InsertHow } from "./insert.ts";
import { bytes, list, number, rows, text } from "./reply.ts";

/** In one call; whoever wants more calls again. */
const MOST = 200;

export async function reap(
  how: InsertHow,
  { limit }: { readonly limit: number },
): Promise<ReapedJob[]> {
  const reaped: ReapedJob[] = [];
  if (limit <= 0) return reaped;
  let failure: unknown = null;
  for (const slot of how.server.slots(await how.queues.all())) {
    const left = Math.min(MOST, limit - reaped.length);
    if (left <= 0) break;
    try {
      reaped.push(...(await reapSlot(how, slot, left)));
    } catch (error) {
      // A node that is away must not keep the jobs of the others from being found.
      failure ??= error;
    }
  }
  if (failure !== null && reaped.length === 0) throw failure as Error;
  return reaped;
}

async function reapSlot(
  { server, touched }: InsertHow,
  slot: readonly string[],
  limit: number,
): Promise<ReapedJob[]> {
  const [woken, ...jobs] = list(await server.onQueues("reap", slot, [limit]));
  touched.wake(woken, slot);
  return rows(jobs, 4).map(([queue, id, packed, charged]): ReapedJob => {
    const header = readHeader(bytes(packed));
    const isCancelled = header.status === "cancelled";
    if (isCancelled) touched.finished.push(text(id));
    return {
      id: text(id),
      queue: slot[number(queue) - 1] ?? "",
      group: header.group,
      type: header.type,
      worker: header.worker ?? "",
      attempts: header.attempts,
      crashes: header.crashes,
      charged: number(charged) === 1,
      status: isCancelled ? "cancelled" : "queued",
    };
  });
}
