/** Planted bugs around what is kept: keys, holds, retention, what is remembered. */
import { isFinished } from "../../../packages/holdfast/src/core/job.ts";
import { bury, forget } from "../../../packages/holdfast/src/stores/memory/moves.ts";
import { inStore, type PlantedBug } from "./planted-bug.ts";

export const keepingBugs: readonly PlantedBug[] = [
  inStore("hold-released-by-other", "a release removes everybody's holds", (state, store) => ({
    async hold(changes) {
      await store.hold(changes);
      for (const { queue: name, group, hold } of changes) {
        const queue = state.queues.get(name);
        if (hold !== null || queue === undefined) continue;
        if (group === null) queue.holds.clear();
        else queue.lines.get(group)?.holds.clear();
      }
    },
  })),

  inStore("pause-forgotten", "a restart of the store forgets its holds", (state, store) => ({
    async open() {
      for (const queue of state.queues.values()) {
        queue.holds.clear();
        for (const line of queue.lines.values()) line.holds.clear();
      }
      await store.open();
    },
  })),

  inStore(
    "key-freed-by-older",
    "a job that finishes frees its key, whoever has it by now",
    (state, store) => ({
      async settle(settlements) {
        const results = await store.settle(settlements);
        for (const { id } of settlements) {
          const job = state.jobs.get(id);
          if (!job?.dedupe || !isFinished(job.status)) continue;
          const { keys } = state.queues.get(job.queue)!;
          const taken = keys.get(job.dedupe.key);
          if (!taken || taken.jobId === id) continue;
          keys.delete(job.dedupe.key);
          if (taken.expiresAt !== null) state.expiringKeys.remove(taken);
        }
        return results;
      },
    }),
  ),

  inStore("dead-frees-key", "a dead job no longer blocks its key", (state, store) => ({
    async settle(settlements) {
      const results = await store.settle(settlements);
      for (const { id } of settlements) {
        const job = state.jobs.get(id);
        if (job?.status !== "dead" || !job.dedupe) continue;
        const { keys } = state.queues.get(job.queue)!;
        const taken = keys.get(job.dedupe.key);
        if (taken?.jobId === id && taken.expiresAt === null) keys.delete(job.dedupe.key);
      }
      return results;
    },
  })),

  inStore("prune-takes-queued", "a prune may take a job that waits", (state, store) => ({
    async prune(policies, limit) {
      const pruned = await store.prune(policies, limit);
      const now = state.clock.now();
      const old = [...state.jobs.values()].find(
        ({ status, createdAt }) => status === "queued" && now - createdAt > 3_000,
      );
      if (old) bury(state, old, now);
      return pruned;
    },
  })),

  inStore("nothing-remembered", "a deleted job is forgotten at once", (state, store) => ({
    insert(jobs, how) {
      for (const tombstone of [...state.tombstones.values()]) forget(state, tombstone);
      return store.insert(jobs, how);
    },
    settle(settlements) {
      for (const tombstone of [...state.tombstones.values()]) forget(state, tombstone);
      return store.settle(settlements);
    },
  })),
];
