/** The properties hold for the memory store itself, and bite: stores with planted bugs are found out. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "vitest";
import type { DisownRequest, Store } from "../../packages/holdfast/src/core/store.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { storeProperties } from "./index.ts";

type Plant = (store: Store) => Store;

/** Runs the properties whose claim has these words; answers what the first failing one says. */
async function trouble(
  about: string,
  plant: Plant,
  runs: number,
  { hasTransactions = false } = {},
): Promise<string | null> {
  const bodies: (() => Promise<void>)[] = [];
  storeProperties({
    describe: (_, body) => body(),
    it: (claim, body) => void (claim.includes(about) && bodies.push(body)),
    fc,
    runs,
    hasTransactions,
    seed: 42,
    command: "npm test",
    async place() {
      let now = Date.UTC(2031, 0, 1);
      const store = plant(memoryStore({ now: () => now }));
      return {
        open: async () => store,
        advance: async (ms) => void (now += ms),
        async transaction() {
          const tx = { isOpen: true };
          const end = async () => void (tx.isOpen = false);
          return { tx, commit: end, rollback: end };
        },
        dispose: async () => {},
      };
    },
  });
  for (const body of bodies) {
    const failure = await body().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (failure !== null) return failure;
  }
  return null;
}

/** The operations of a counterexample. */
function stepsIn(report: string): string[] {
  return report.split("\n").filter((line) => /^ {2}\d+\. /.test(line));
}

/**
 * Of up to 120. Some bugs show in a job's second crash or a second disowning, and that takes eight; leases are named by how
 * long ago they were taken, so a few more may have to stay for the sake of counting.
 */
const SHORT = 16;

const PLANTED: Record<string, Plant> = {
  "settles without looking at the fence": (store) => ({
    ...store,
    settle: async (settlements) =>
      store.settle(
        await Promise.all(
          settlements.map(async (settlement) => {
            const [job] = await store.get([settlement]);
            return typeof job === "object" ? { ...settlement, fence: job?.fence ?? 0 } : settlement;
          }),
        ),
      ),
  }),
  "drops what rides along with a renewal": (store) => ({
    ...store,
    renew: (renewals, leaseMs) =>
      store.renew(
        renewals.map(({ updates: _, ...renewal }) => renewal),
        leaseMs,
      ),
  }),
  "forgets idempotency keys": (store) => ({
    ...store,
    insert: (jobs, options) =>
      store.insert(
        jobs.map((job) => ({ ...job, dedupe: null })),
        options,
      ),
  }),
  "overruns the caps of lines": (store) => ({
    ...store,
    limit: (changes) => store.limit(changes.map(({ maxActivePerGroup: _, ...change }) => change)),
  }),
  "releases every owner's hold": (store) => ({
    ...store,
    hold: async (changes) => {
      for (const { queue, group, hold } of changes)
        await store.hold([{ queue, group, owner: "x", hold }]);
    },
  }),
  "leases the jobs of a line in a wrong order": (store) => ({
    ...store,
    lease: async (request) => {
      const { jobs, nextInMs } = await store.lease(request);
      return { jobs: jobs.toReversed(), nextInMs };
    },
  }),
  "never hears that a job starts": (store) => ({
    ...store,
    renew: (renewals, leaseMs) =>
      store.renew(
        renewals.map(({ starts: _, ...renewal }) => renewal),
        leaseMs,
      ),
  }),
  "takes every renewal for a start": (store) => ({
    ...store,
    renew: (renewals, leaseMs) =>
      store.renew(
        renewals.map((renewal) => ({ ...renewal, starts: true })),
        leaseMs,
      ),
  }),
  "says that it charged what it gave back": (store) => ({
    ...store,
    reap: async (request) =>
      (await store.reap(request)).map((reaped) => ({ ...reaped, charged: true })),
  }),
  "disowns what a worker knows of": (store) => ({
    ...store,
    disown: (request) => store.disown({ ...request, except: [] }),
  }),
  "lets a worker keep a job by its id alone": (store) => ({
    ...store,
    disown: async (request) => {
      const jobs = await store.get(request.except);
      const except = request.except.map((ref, index) => {
        const job = jobs[index];
        return typeof job === "object" && job !== null ? { ...ref, fence: job.fence } : ref;
      });
      return store.disown({ ...request, except });
    },
  }),
  "remembers what a worker said first when it disowns again": (store) => {
    const said = new Map<string, DisownRequest["except"]>();
    return {
      ...store,
      disown: async (request) => {
        const except = said.get(request.worker) ?? request.except;
        said.set(request.worker, except);
        return store.disown({ ...request, except });
      },
    };
  },
  "hands out more bytes than were asked for": (store) => ({
    ...store,
    lease: ({ maxBytes: _, ...request }) => store.lease(request),
  }),
  "hands out nothing if its first job is over the bound in bytes": (store) => ({
    ...store,
    lease: ({ maxBytes = Infinity, limit, ...request }) =>
      store.lease({ ...request, limit: maxBytes < 2 ? 0 : limit }),
  }),
  "keeps a bound in bytes for each queue by itself": (store) => ({
    ...store,
    lease: async (request) => {
      const [first, ...others] = request.queues;
      if (first === undefined || others.length === 0) return store.lease(request);
      const one = await store.lease({ ...request, queues: [first] });
      const limit = request.limit - one.jobs.length;
      const two = await store.lease({ ...request, queues: others, limit });
      const { nextInMs } = await store.lease({ ...request, limit: 0 });
      return { jobs: [...one.jobs, ...two.jobs], nextInMs };
    },
  }),
  "says nothing of what it left for the bound in bytes": (store) => ({
    ...store,
    lease: async (request) => {
      const reply = await store.lease(request);
      const isCutShort = request.maxBytes !== undefined && reply.jobs.length > 0;
      return isCutShort ? { ...reply, nextInMs: null } : reply;
    },
  }),
  "leaves behind what a wide bound in bytes has room for": (store) => ({
    ...store,
    lease: (request) =>
      store.lease(request.maxBytes === undefined ? request : { ...request, maxBytes: 25 }),
  }),
  "comes back a millisecond late": (store) => ({
    ...store,
    lease: async (request) => {
      const { jobs, nextInMs } = await store.lease(request);
      return { jobs, nextInMs: nextInMs === null || nextInMs === 0 ? nextInMs : nextInMs + 1 };
    },
  }),
};

const RACES: Record<string, Plant> = {
  "swaps a record that has changed since it looked": (store) => ({
    ...store,
    records: {
      ...store.records,
      swap: async (swaps) => {
        const [swap, ...others] = swaps;
        if (swap === undefined || others.length > 0) return store.records.swap(swaps);
        const { key } = swap;
        const [found] = await store.records.read([key]);
        const expect = found?.version ?? null;
        if (expect !== swap.expect) return store.records.swap(swaps);
        const results = await store.records.swap([{ ...swap, expect }]);
        if (results[0]?.swapped) return results;
        const [changed] = await store.records.read([key]);
        return store.records.swap([{ ...swap, expect: changed?.version ?? null }]);
      },
    },
  }),
  "hands a job to two callers who ask at once": (store) => {
    let last: { readonly asked: string; readonly reply: ReturnType<Store["lease"]> } | null = null;
    return {
      ...store,
      lease: async (request) => {
        const asked = JSON.stringify(request.queues);
        if (last?.asked === asked) return last.reply;
        last = { asked, reply: store.lease(request) };
        const { reply } = last;
        await reply;
        await Promise.resolve();
        last = null;
        return reply;
      },
    };
  },
};

/** It does at once what a transaction asks, and there is no taking back. */
const keepsWhatWasRolledBack: Plant = (store) => ({
  ...store,
  within: (tx) => ({
    insert: (jobs, options) => store.insert(jobs, options),
    settle: (settlements) => store.settle(settlements),
    isOpen: () => (tx as { readonly isOpen: boolean }).isOpen,
  }),
});

/** The longest that shortening a counterexample may take is in it. */
const LONG = { timeout: 120_000 };

describe("the property test", LONG, () => {
  it("finds the memory store to agree with itself", async () => {
    assert.equal(await trouble("", (store) => store, 30), null);
  });

  for (const [name, plant] of Object.entries(PLANTED)) {
    it(`finds a store out that ${name}`, async () => {
      const report = await trouble("a sequence", plant, 400);
      assert.ok(report !== null, "it is found out");
      assert.ok(stepsIn(report).length <= SHORT, report);
    });
  }

  for (const [name, plant] of Object.entries(RACES)) {
    it(`finds a store out that ${name}`, async () => {
      assert.equal(await trouble("a sequence", plant, 30), null, "one caller alone sees nothing");
      // Callers must meet in the midst of a call, which they rarely do.
      const report = await trouble("at once", plant, 2_000);
      assert.ok(report !== null, "it is found out");
      assert.match(report, /no order of the last calls explains/);
      assert.ok(stepsIn(report).length <= SHORT, report);
    });
  }

  it("finds a store out that keeps what a caller's transaction rolled back", async () => {
    const how = { hasTransactions: true };
    const report = await trouble("a sequence", keepsWhatWasRolledBack, 400, how);
    assert.match(report ?? "", /within .*\n[^]*ends: 'rollback'/);
    assert.ok(stepsIn(report ?? "").length <= SHORT, report ?? "");
  });

  it("prints the seed that leads to the same counterexample again", async () => {
    const plant = PLANTED["forgets idempotency keys"];
    assert.ok(plant);
    const report = await trouble("one line a queue", plant, 400);
    assert.match(report ?? "", /HOLDFAST_PROPERTY_SEED=42 HOLDFAST_PROPERTY_RUNS=\d+ npm test$/);
    assert.equal(await trouble("one line a queue", plant, 400), report);
  });
});
