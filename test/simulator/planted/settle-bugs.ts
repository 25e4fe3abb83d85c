/** Planted bugs around settles: fences, refunds, what belongs to an outcome. */
import type { Settlement } from "../../../packages/holdfast/src/core/store.ts";
import type { MemoryState } from "../../../packages/holdfast/src/stores/memory/state.ts";
import { inStore, type PlantedBug } from "./planted-bug.ts";

export const settleBugs: readonly PlantedBug[] = [
  inStore(
    "settle-without-fence",
    "whoever settles a processing job is believed",
    (state, store) => ({
      settle: (settlements) =>
        store.settle(
          settlements.map((one) => {
            const job = state.jobs.get(one.id);
            return job?.status === "processing" ? { ...one, fence: job.fence } : one;
          }),
        ),
    }),
  ),

  inStore("repeat-applies-twice", "the repeat of a settle is applied again", (state, store) => ({
    async settle(settlements) {
      for (const one of settlements.filter((settlement) => isRepeat(state, settlement))) {
        const job = state.jobs.get(one.id)!;
        if (one.outcome.kind === "retry") job.deferrals += 1;
        job.attempts = Math.max(0, job.attempts - 1);
      }
      return store.settle(settlements);
    },
  })),

  inStore("repeat-is-lost", "the repeat of a settle is answered lost", (state, store) => ({
    async settle(settlements) {
      const repeats = settlements.map((settlement) => isRepeat(state, settlement));
      const results = await store.settle(settlements);
      return results.map((result, at) => (repeats[at] ? "lost" : result));
    },
  })),

  inStore("refund-twice", "what is handed back gives two attempts back", (state, store) => ({
    async settle(settlements) {
      const results = await store.settle(settlements);
      settlements.forEach(({ id, outcome }, at) => {
        const job = state.jobs.get(id);
        const isHandedBack = outcome.kind === "release" || outcome.kind === "snooze";
        if (job && isHandedBack && results[at] === "settled" && job.attempts > 0) job.attempts -= 1;
      });
      return results;
    },
  })),

  inStore("crash-is-refunded", "a retry after a crash gets its attempt back", (state, store) => ({
    async settle(settlements) {
      const results = await store.settle(settlements);
      for (const { id, outcome } of settlements) {
        const job = state.jobs.get(id);
        if (job && outcome.kind === "retry" && job.crashes > 0 && job.attempts > 0)
          job.attempts -= 1;
      }
      return results;
    },
  })),

  inStore(
    "spawn-outside",
    "spawned jobs are stored before the settle is judged",
    (_state, store) => ({
      async settle(settlements) {
        for (const { spawn = [] } of settlements) await store.insert(spawn, { evenIfFull: true });
        return store.settle(settlements.map(({ spawn: _spawn, ...rest }) => rest));
      },
    }),
  ),

  inStore(
    "spawn-after",
    "spawned jobs are stored after the settle, and sometimes not",
    (state, store) => {
      let count = 0;
      return {
        async settle(settlements) {
          const results = await store.settle(settlements.map(({ spawn: _spawn, ...rest }) => rest));
          for (const [at, { spawn = [] }] of settlements.entries()) {
            // The process died right here, once in a while.
            const isCut = (count += 1) % 40 === 0;
            if (results[at] === "settled" && !isCut)
              await store.insert(spawn, { evenIfFull: true });
          }
          state.clock.now();
          return results;
        },
      };
    },
  ),

  inStore(
    "entries-outside",
    "ledger entries are written whether the settle is taken or not",
    (_state, store) => ({
      async settle(settlements) {
        for (const { entries = [] } of settlements) await store.ledger.append(entries);
        return store.settle(settlements);
      },
    }),
  ),

  inStore("steps-forgotten", "a retried job forgets its steps", (state, store) => ({
    async settle(settlements) {
      const results = await store.settle(settlements);
      for (const { id, outcome } of settlements) {
        const job = state.jobs.get(id);
        if (job && outcome.kind === "retry") job.steps = [];
      }
      return results;
    },
  })),

  inStore(
    "cancel-forgotten",
    "a cancel that was asked for is forgotten when the job is retried",
    (state, store) => ({
      settle: (settlements) => {
        for (const { id, fence, outcome } of settlements) {
          const job = state.jobs.get(id);
          if (job?.fence === fence && outcome.kind === "retry") job.cancelWhy = null;
        }
        return store.settle(settlements);
      },
    }),
  ),
];

function isRepeat(state: MemoryState, { id, fence }: Settlement): boolean {
  const job = state.jobs.get(id);
  return job !== undefined && job.status === "queued" && job.settledFence === fence;
}
