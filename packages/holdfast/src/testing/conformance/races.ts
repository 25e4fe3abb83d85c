/** Many callers at once, through several Store objects on the same data. */
import assert from "node:assert/strict";
import type { LeasedJob, Store } from "../../core/store.ts";
import { callers, threeStores } from "./callers.ts";
import { assertCounts, findAll, jobOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  idsOf,
  insertAll,
  insertSome,
  key,
  newJob,
  QUEUE,
  sortedIdsOf,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { settle, succeed } from "./settling.ts";
import { leaseRequest, take } from "./take.ts";
import { HOUR_MS } from "./times.ts";

const NOBODY = { reason: null, by: null };

export const races = chapter("races", {
  "parallel prunes by number keep as many as are to be kept": async (given) => {
    const stores = await threeStores(given);
    const now = await given.store.now();
    const jobs = Array.from({ length: 40 }, (_, index) =>
      adoptedJob({ status: "succeeded", finishedAt: now - HOUR_MS + index }),
    );
    await adoptAll(given.store, jobs);
    const policy = { queue: QUEUE, status: "succeeded", olderThanMs: null, keep: 15 } as const;
    await callers(stores, 6, (store) => store.prune([policy], 100));
    assert.deepEqual(sortedIdsOf(await findAll(given.store, {})), sortedIdsOf(jobs.slice(-15)));
  },

  "no job is handed out twice to parallel callers": async (given) => {
    const stores = await threeStores(given);
    const jobs = await insertSome(given.store, 300);
    const taken = await callers(stores, 12, async (store, caller) => {
      const mine: LeasedJob[] = [];
      for (let more = true; more;) {
        const some = await take(store, 7, { worker: `worker-${caller}` });
        mine.push(...some);
        more = some.length > 0;
      }
      return mine;
    });
    const leftover = await take(given.store, 300);
    assert.deepEqual(sortedIdsOf([...taken.flat(), ...leftover]), sortedIdsOf(jobs));
  },

  "parallel callers take turns between lines without taking a job twice": async (given) => {
    const stores = await threeStores(given);
    const jobs = Array.from({ length: 200 }, (_, index) => newJob({ group: `g${index % 9}` }));
    await insertAll(given.store, jobs);
    const taken = await callers(stores, 10, (store, caller) =>
      take(store, 20, { worker: `worker-${caller}` }),
    );
    const leftover = await take(given.store, 200);
    assert.deepEqual(sortedIdsOf([...taken.flat(), ...leftover]), sortedIdsOf(jobs));
  },

  "who deletes a record that is not there deletes no other's that is written meanwhile": async (
    given,
  ) => {
    const stores = await threeStores(given);
    const keys = Array.from({ length: 100 }, (_, index) => `record:${index}`);
    for (const name of keys) {
      const results = await callers(stores, 6, async (store, caller) => {
        const value = caller === 2 ? "mine" : null;
        return store.records.swap([{ key: name, expect: null, value, ttlMs: null }]);
      });
      assert.equal(results[2]?.[0]?.swapped, true, "nobody else writes");
    }
    for (const record of await given.store.records.read(keys)) assert.equal(record?.value, "mine");
  },

  "caps hold while jobs are leased and settled in parallel": async (given) => {
    const stores = await threeStores(given);
    const caps: Record<string, number> = { queue: 6, a: 2, b: 3 };
    await given.store.limit([
      { queue: QUEUE, group: null, maxActive: 6, maxActivePerGroup: 3 },
      { queue: QUEUE, group: "a", maxActive: 2 },
    ]);
    for (const group of ["a", "b", "c"]) await insertSome(given.store, 40, { group });
    const active: Record<string, number> = { queue: 0, a: 0, b: 0, c: 0 };
    let finished = 0;
    // Counted after the reply of a lease and uncounted before its settle is sent, a job is active
    // here only while it is active in the store: so a sum above the cap is a broken cap.
    const track = (job: LeasedJob, change: 1 | -1): void => {
      for (const place of ["queue", job.group]) {
        active[place] = (active[place] ?? 0) + change;
        assert.ok((active[place] ?? 0) <= (caps[place] ?? 3), `the cap of ${place} holds`);
      }
    };
    await callers(stores, 9, async (store, caller) => {
      for (let round = 0; round < 500 && finished < 120; round++) {
        const { jobs } = await store.lease(leaseRequest(4, { worker: `worker-${caller}` }));
        for (const job of jobs) track(job, 1);
        for (const job of jobs) {
          track(job, -1);
          await settle(store, job, succeed());
          finished++;
        }
      }
    });
    assert.equal(finished, 120);
  },

  "a cap that is set while others lease counts what they take": async (given) => {
    const stores = await threeStores(given);
    await insertSome(given.store, 200);
    let isSet = false;
    const taken = { before: 0, after: 0 };
    await callers(stores, 6, async (store, caller) => {
      for (let round = 0; round < 12; round++) {
        const when = isSet ? "after" : "before";
        taken[when] += (await store.lease(leaseRequest(1))).jobs.length;
        if (caller > 0 || round !== 3) continue;
        await store.limit([{ queue: QUEUE, group: null, maxActive: 30, maxActivePerGroup: 30 }]);
        isSet = true;
      }
    });
    assert.ok(
      taken.after <= Math.max(0, 30 - taken.before),
      "the cap holds for leases that begin after",
    );
  },

  "fifty parallel inserts of one key make one job": async (given) => {
    const stores = await threeStores(given);
    const results = await callers(stores, 50, (store) =>
      store.insert([newJob({ dedupe: key("k") })]),
    );
    const outcomes = results.flat();
    const added = outcomes.filter((result) => result.outcome === "added");
    assert.equal(added.length, 1);
    const id = added[0]?.id;
    assert.ok(outcomes.every((result) => "id" in result && result.id === id));
    assert.equal((await findAll(given.store, {})).length, 1);
  },

  "parallel batches with the same keys in other orders make one job a key": async (given) => {
    const stores = await threeStores(given);
    const names = Array.from({ length: 30 }, (_, index) => `key-${index}`);
    const results = await callers(stores, 8, (store, caller) => {
      const mine = caller % 2 === 0 ? names : names.toReversed();
      return store.insert(mine.map((name) => newJob({ dedupe: key(name) })));
    });
    const added = results.flat().filter((result) => result.outcome === "added");
    assert.equal(added.length, 30);
    const stored = await findAll(given.store, {});
    assert.equal(stored.length, names.length);
    assert.deepEqual(new Set(stored.map((job) => job.dedupeKey)), new Set(names));
  },

  "parallel inserts of one id make one job": async (given) => {
    const stores = await threeStores(given);
    const job = newJob();
    const results = await callers(stores, 20, (store) => store.insert([job]));
    const added = results.flat().filter((result) => result.outcome === "added");
    assert.equal(added.length, 1);
    await assertCounts(given.store, { ready: 1 });
  },

  "a job is either cancelled while it waits or asked while it runs": async (given) => {
    const [first, second] = await threeStores(given);
    const jobs = await insertSome(given.store, 40);
    const ids = jobs.map(({ id }) => ({ id }));
    const [leased, { changes }] = await Promise.all([
      take(first, 20),
      second.cancel({ ids }, NOBODY),
    ]);
    const running = new Set(idsOf(leased));
    for (const { id, result } of changes) {
      assert.equal(result, running.has(id) ? "asked" : "done");
    }
    assert.deepEqual(await take(given.store, 40), []);
  },

  "of parallel revivals exactly one is done": async (given) => {
    const stores = await threeStores(given);
    const job = adoptedJob({ status: "dead", attempts: 5, finishedAt: 1_000_400 });
    await adoptAll(given.store, [job]);
    const revival = { delayMs: 0, runAt: null, attempts: 2 };
    const replies = await callers(stores, 8, (store) =>
      store.revive({ ids: [{ id: job.id }] }, revival, NOBODY),
    );
    const results = replies.flatMap((reply) => reply.changes.map((change) => change.result));
    assert.equal(results.filter((result) => result === "done").length, 1);
    assert.equal((await jobOf(given.store, job)).maxAttempts, 7);
    await assertCounts(given.store, { ready: 1 });
  },

  "parallel prunings delete each job once": async (given) => {
    const stores = await threeStores(given);
    const finishedAt = (await given.store.now()) - 2 * HOUR_MS;
    const jobs = Array.from({ length: 60 }, () => adoptedJob({ status: "succeeded", finishedAt }));
    await adoptAll(given.store, jobs);
    const policies = [
      { queue: QUEUE, status: "succeeded" as const, olderThanMs: HOUR_MS, keep: null },
    ];
    const counts = await callers(stores, 5, (store) => store.prune(policies, 100));
    counts.push(await given.store.prune(policies, 100));
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      60,
    );
    await assertCounts(given.store, {});
  },

  "of parallel swaps of one version exactly one wins": async (given) => {
    const stores = await threeStores(given);
    const results = await callers(stores, 20, (store, caller) =>
      store.records.swap([{ key: "lock", expect: null, value: `${caller}`, ttlMs: null }]),
    );
    assert.equal(results.flat().filter((result) => result.swapped).length, 1);
  },

  "parallel callers that swap in turn lose no change": async (given) => {
    const stores = await threeStores(given);
    await callers(stores, 6, async (store) => {
      for (let done = 0; done < 5;) {
        const [record] = await store.records.read(["counter"]);
        const value = String(Number(record?.value ?? "0") + 1);
        const swap = { key: "counter", expect: record?.version ?? null, value, ttlMs: null };
        const [result] = await store.records.swap([swap]);
        if (result?.swapped) done++;
      }
    });
    const [record] = await given.store.records.read(["counter"]);
    assert.equal(record?.value, "30");
  },

  "holds and releases racing leases leave no line shut": async (given) => {
    const stores = await threeStores(given);
    await insertSome(given.store, 60, { group: "a" });
    const hold = { forMs: null, reason: "flapping", by: null };
    await callers(stores, 6, async (store, caller) => {
      for (let turn = 0; turn < 5; turn++) {
        const change = { queue: QUEUE, group: "a", owner: `owner-${caller}` };
        await store.hold([{ ...change, hold }]);
        await store.lease(leaseRequest(1));
        await store.hold([{ ...change, hold: null }]);
      }
    });
    await assertHandedOut(given.store, 60);
  },
});

/** However many were taken before, the rest of so many jobs can be taken now. */
async function assertHandedOut(store: Store, total: number): Promise<void> {
  const rest = await take(store, total);
  const running = await findAll(store, { status: ["processing"] });
  assert.ok(rest.length > 0 || running.length === total);
  assert.equal(running.length, total);
}
