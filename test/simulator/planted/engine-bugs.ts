/** Planted bugs in the engine. */
import { inEngine, type PlantedBug } from "./planted-bug.ts";

export const engineBugs: readonly PlantedBug[] = [
  inEngine("ack-before-commit", "the batcher answers before the store has the jobs", (store) => ({
    async insert(jobs, how) {
      store.insert(jobs, how).catch(() => {});
      return jobs.map(({ id }) => ({ outcome: "added" as const, id }));
    },
  })),

  inEngine("runs-exhausted", "a job is run although its attempts are spent", (store) => ({
    async lease(request) {
      const reply = await store.lease(request);
      return { ...reply, jobs: reply.jobs.map((job) => ({ ...job, exhausted: false })) };
    },
  })),

  inEngine("blind-to-crashes", "a job is run however often it has crashed", (store) => ({
    async lease(request) {
      const reply = await store.lease(request);
      return { ...reply, jobs: reply.jobs.map((job) => ({ ...job, crashes: 0 })) };
    },
  })),

  inEngine("deaf-to-loss", "a lost lease is not noticed", (store) => ({
    async renew(renewals, leaseMs) {
      try {
        const results = await store.renew(renewals, leaseMs);
        return results.map((result) => (result === "lost" ? "kept" : result));
      } catch {
        return renewals.map(() => "kept" as const);
      }
    },
  })),

  inEngine("reaps-at-once", "nobody waits for touch before reaping", (store) => ({
    async now() {
      await store.reap({ limit: 200 });
      return store.now();
    },
  })),

  inEngine(
    "outbox-cleared-first",
    "the outbox is cleared before its entries are carried",
    (store) => ({
      outbox: {
        ...store.outbox,
        async read(limit) {
          const items = await store.outbox.read(limit);
          if (items.length > 0) await store.outbox.clear(items.map(({ id }) => id));
          return items;
        },
      },
    }),
  ),

  inEngine("child-forgotten", "the last spawned job is left out of the settle", (store) => ({
    settle: (settlements) =>
      store.settle(
        settlements.map(({ spawn, ...rest }) =>
          spawn && spawn.length > 1
            ? { ...rest, spawn: spawn.slice(0, -1) }
            : { ...rest, ...(spawn && { spawn }) },
        ),
      ),
  })),
];
