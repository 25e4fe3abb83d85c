/** Planted bugs around who is charged: lost replies, outages, transactions, suspects. */
import type { LeaseRef, WithinTransaction } from "../../../packages/holdfast/src/core/store.ts";
import { MAX_CRASHES } from "../contracts.ts";
import { attemptKey } from "../watcher.ts";
import { inEngine, inStore, type PlantedBug } from "./planted-bug.ts";

export const chargeBugs: readonly PlantedBug[] = [
  inEngine("lease-not-disowned", "what a lost reply leased is never disowned", () => ({
    disown: async () => 0,
  })),

  inStore(
    "disowned-is-charged",
    "a lease that arrives after its worker disowned it is charged",
    (state, store) => ({
      async reap(request) {
        state.disowned.clear();
        return store.reap(request);
      },
    }),
  ),

  inEngine(
    "late-outcome-swallowed",
    "how an attempt ended is not sent once its lease has ended, although the store was away",
    (store, now) => {
      const heldUntil = new Map<string, number>();
      let lastLeaseMs = 0;
      const keyOf = ({ id, fence }: LeaseRef) => attemptKey({ jobId: id, fence });
      return {
        async lease(request) {
          lastLeaseMs = request.leaseMs;
          const sentAt = now();
          const reply = await store.lease(request);
          for (const job of reply.jobs) heldUntil.set(keyOf(job), sentAt + lastLeaseMs);
          return reply;
        },
        async renew(renewals, leaseMs) {
          const sentAt = now();
          const results = await store.renew(renewals, leaseMs);
          for (const renewal of renewals) heldUntil.set(keyOf(renewal), sentAt + leaseMs);
          return results;
        },
        async settle(settlements) {
          const isLate = (ref: LeaseRef) => now() >= (heldUntil.get(keyOf(ref)) ?? Infinity);
          const sent = settlements.filter((one) => !isLate(one));
          const results = sent.length === 0 ? [] : await store.settle(sent);
          const byKey = new Map(sent.map((one, at) => [keyOf(one), results[at]!]));
          return settlements.map((one) => byKey.get(keyOf(one)) ?? "lost");
        },
      };
    },
  ),

  inEngine(
    "rollback-is-success",
    "a settle in a transaction that was rolled back is taken for a success",
    (store) => {
      const settled = new Set<string>();
      return {
        within: (tx) => ({
          ...withinOf(store, tx),
          settle(settlements) {
            for (const { id } of settlements) settled.add(id);
            return withinOf(store, tx).settle(settlements);
          },
        }),
        // Nobody looks whether the job is still held.
        async get(refs) {
          const found = await store.get(refs);
          return found.map((job, at) => (settled.has(refs[at]!.id) ? null : job));
        },
      };
    },
  ),

  inEngine(
    "rollback-unrenewed",
    "what was settled in a transaction is not renewed again after its rollback",
    (store) => ({ within: (tx) => ({ ...withinOf(store, tx), isOpen: () => true }) }),
  ),

  inStore("waiting-is-charged", "a lease alone counts as a start", (state, store) => ({
    async lease(request) {
      const reply = await store.lease(request);
      for (const { id } of reply.jobs) state.jobs.get(id)!.isUnstarted = false;
      return reply;
    },
  })),

  inEngine("suspects-together", "several suspects run at once in one worker", (store) => ({
    async lease(request) {
      const reply = await store.lease(request);
      const jobs = reply.jobs.map((job) =>
        job.crashes === MAX_CRASHES - 1 ? { ...job, crashes: MAX_CRASHES - 2 } : job,
      );
      return { ...reply, jobs };
    },
  })),
];

function withinOf(
  { within }: { within?: (tx: unknown) => WithinTransaction },
  tx: unknown,
): WithinTransaction {
  return within!(tx);
}
