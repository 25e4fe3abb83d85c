import type { Renewal, RenewResult } from "../../core/store.ts";
import { flag, orEmpty, riderArgs } from "./args.ts";
import { bySlot } from "./by-slot.ts";
import { list, number } from "./reply.ts";
import type { Server } from "./server.ts";

const RESULTS: readonly RenewResult[] = ["lost", "kept", "cancel"];

export async function renew(
  server: Server,
  renewals: readonly Renewal[],
  leaseMs: number,
): Promise<RenewResult[]> {
  const results = new Map<Renewal, RenewResult>();
  await bySlot(server, renewals, {
    script: "renew",
    head: [leaseMs],
    args: ({ id, fence, order, starts = false, updates }, queue) => [
      ...[queue, id, fence, orEmpty(order), flag(starts), ...riderArgs(updates)],
    ],
    answer(reply, items) {
      for (const [index, result] of list(reply).entries()) {
        const item = items[index];
        if (item !== undefined) results.set(item, RESULTS[number(result)] ?? "lost");
      }
    },
  });
  return renewals.map((renewal) => results.get(renewal) ?? "lost");
}
