/** Planted bugs around leases: granting, renewing, reaping. */
import { leasedSnapshot } from "../../../packages/holdfast/src/stores/memory/snapshot.ts";
import { moveTo } from "../../../packages/holdfast/src/stores/memory/placement.ts";
import type { MemoryJob } from "../../../packages/holdfast/src/stores/memory/state.ts";
import { inStore, type PlantedBug } from "./planted-bug.ts";

/** Two calls this close together would have raced in a store with several connections. */
const RACE_MS = 20;

export const leaseBugs: readonly PlantedBug[] = [
  inStore(
    "lease-to-two",
    "a job may be handed out while another worker holds it",
    (state, store) => ({
      async lease(request) {
        const reply = await store.lease(request);
        const held = state.leased.peek();
        if (!held || reply.jobs.length >= request.limit || held.worker === request.worker)
          return reply;
        held.fence = state.clock.fenceAfter(held.fence);
        return { ...reply, jobs: [...reply.jobs, leasedSnapshot(held, { isExhausted: false })] };
      },
    }),
  ),

  inStore(
    "cap-before-lease",
    "caps are looked at before the lease, so racing callers pass",
    (state, store) => {
      let lastAt = 0;
      return {
        async lease(request) {
          const now = state.clock.now();
          const isRace = now - lastAt < RACE_MS;
          lastAt = now;
          if (!isRace) return store.lease(request);
          const undo = [...state.queues.values()].map((queue) => {
            const { maxActive, maxActivePerGroup } = queue;
            queue.maxActive = queue.maxActivePerGroup = null;
            return () => Object.assign(queue, { maxActive, maxActivePerGroup });
          });
          const reply = await store.lease(request);
          for (const back of undo) back();
          return reply;
        },
      };
    },
  ),

  inStore("fence-repeats", "a retried job is leased under its old fence", (state, store) => ({
    async lease(request) {
      const last = new Map([...state.jobs.values()].map(({ id, fence }) => [id, fence]));
      const reply = await store.lease(request);
      const jobs = reply.jobs.map((leased) => {
        const job = state.jobs.get(leased.id)!;
        if (leased.attempt > 1) job.fence = last.get(leased.id) ?? job.fence;
        return { ...leased, fence: job.fence };
      });
      return { ...reply, jobs };
    },
  })),

  inStore("turns-begin-anew", "every lease call begins at the same line", (state, store) => ({
    async lease(request) {
      for (const { ring } of state.queues.values()) {
        const first = [...ring].map(({ group }) => group).sort()[0];
        while (ring.current && ring.current.group !== first) ring.pass();
      }
      return store.lease(request);
    },
  })),

  inStore("renew-revives", "a renewal brings a lease back that was reaped", (state, store) => ({
    async renew(renewals, leaseMs) {
      for (const { id, fence } of renewals) {
        const job = state.jobs.get(id);
        if (job?.status !== "queued" || job.settledFence === fence) continue;
        job.status = "processing";
        job.fence = fence;
        job.leaseUntil = state.clock.now() + leaseMs;
        moveTo(state, job, "processing");
      }
      return store.renew(renewals, leaseMs);
    },
  })),

  inStore("stale-updates", "what rides along with a stale renewal is written", (state, store) => ({
    async renew(renewals, leaseMs) {
      const results = await store.renew(renewals, leaseMs);
      renewals.forEach(({ id, updates }, at) => {
        const job = state.jobs.get(id);
        if (results[at] === "lost" && job && updates?.checkpoint)
          job.checkpoint = updates.checkpoint;
        if (results[at] === "lost" && job && updates?.steps) job.steps = [...updates.steps];
      });
      return results;
    },
  })),

  inStore(
    "late-updates",
    "an older renewal that arrives late puts its checkpoint back",
    (_, store) => ({
      renew: (renewals, leaseMs) =>
        store.renew(
          renewals.map(({ order: _order, ...renewal }) => renewal),
          leaseMs,
        ),
    }),
  ),

  inStore(
    "reap-without-condition",
    "the reaper chooses first and writes later, without looking again",
    (state, store) => {
      let chosen: MemoryJob[] = [];
      return {
        async reap(request) {
          const now = state.clock.now();
          const expired = [...state.jobs.values()].filter(
            (job) => job.status === "processing" && (job.leaseUntil ?? 0) <= now,
          );
          const writing = new Set(chosen.filter((job) => job.status === "processing"));
          chosen = expired;
          for (const job of expired) if (!writing.has(job)) setEnd(job, now + 1);
          for (const job of writing) setEnd(job, now);
          const reaped = await store.reap(request);
          for (const job of expired) if (!writing.has(job)) setEnd(job, now);
          return reaped;
        },
      };

      function setEnd(job: MemoryJob, leaseUntil: number): void {
        job.leaseUntil = leaseUntil;
        state.leased.moved(job);
      }
    },
  ),

  inStore("reap-forgives", "a reap does not count the crash", (state, store) => ({
    async reap(request) {
      const reaped = await store.reap(request);
      return reaped.map((one) => {
        const job = state.jobs.get(one.id);
        if (job) job.crashes -= 1;
        return { ...one, crashes: one.crashes - 1 };
      });
    },
  })),
];
