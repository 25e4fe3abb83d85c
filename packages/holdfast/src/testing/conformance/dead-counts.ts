import assert from "node:assert/strict";
import type { AdoptedJob, Failure } from "../../core/job.ts";
import type { Store } from "../../core/store.ts";
import { adoptAll, adoptedJob, insertOne } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { die, FAILURE, settle } from "./settling.ts";
import { takeOne } from "./take.ts";

function failure(overrides: Partial<Failure>): Failure {
  return { ...FAILURE, ...overrides };
}

async function dead(
  store: Store,
  finishedAt: number,
  overrides: Partial<AdoptedJob>,
): Promise<AdoptedJob> {
  const job = adoptedJob({ status: "dead", finishedAt, error: FAILURE, ...overrides });
  await adoptAll(store, [job]);
  return job;
}

export const deadCounts = chapter("counts of dead jobs", {
  "where no job is dead nothing is counted": async ({ store }) => {
    await insertOne(store);
    await adoptAll(store, [adoptedJob({ status: "succeeded", finishedAt: 2_000_000 })]);
    assert.deepEqual(await store.countDead({ by: "type", limit: 10 }), []);
  },

  "dead jobs are counted by each of their words": async ({ store }) => {
    const auth = failure({ category: "auth", fingerprint: "f2" });
    await dead(store, 2_000, { queue: "a", group: "g", type: "x" });
    const last = await dead(store, 3_000, { queue: "a", group: "g", type: "x" });
    const other = await dead(store, 4_000, { queue: "b", group: "h", type: "y", error: auth });
    const words = {
      queue: ["a", "b"],
      group: ["g", "h"],
      type: ["x", "y"],
      category: ["network", "auth"],
      fingerprint: [FAILURE.fingerprint, "f2"],
    } as const;
    for (const [by, [more, less]] of Object.entries(words)) {
      assert.deepEqual(
        await store.countDead({ by: by as keyof typeof words, limit: 10 }),
        [
          { key: more, count: 2, firstAt: 2_000, lastAt: 3_000, example: last.id },
          { key: less, count: 1, firstAt: 4_000, lastAt: 4_000, example: other.id },
        ],
        by,
      );
    }
  },

  "what a dead job does not have is counted as null": async ({ store }) => {
    await dead(store, 2_000, { error: null });
    await dead(store, 3_000, { error: failure({ fingerprint: null }) });
    const [counted, ...others] = await store.countDead({ by: "fingerprint", limit: 10 });
    assert.deepEqual([counted?.key, counted?.count, others.length], [null, 2, 0]);
  },

  "the dead of one queue are counted alone": async ({ store }) => {
    await dead(store, 2_000, { queue: "a", type: "x" });
    await dead(store, 3_000, { queue: "b", type: "x" });
    const [counted] = await store.countDead({ by: "type", queue: "a", limit: 10 });
    assert.deepEqual([counted?.count, counted?.lastAt], [1, 2_000]);
    assert.deepEqual(await store.countDead({ by: "type", queue: "c", limit: 10 }), []);
  },

  "the dead of one kind in several queues are one count": async ({ store }) => {
    await dead(store, 3_000, { queue: "a", type: "x" });
    await dead(store, 2_000, { queue: "b", type: "x" });
    const last = await dead(store, 4_000, { queue: "c", type: "x" });
    const count = { key: "x", count: 3, firstAt: 2_000, lastAt: 4_000, example: last.id };
    assert.deepEqual(await store.countDead({ by: "type", limit: 10 }), [count]);
    await store.remove({ ids: [{ id: last.id }] }, { reason: null, by: null });
    const [left] = await store.countDead({ by: "type", limit: 10 });
    assert.deepEqual([left?.count, left?.firstAt, left?.lastAt], [2, 2_000, 3_000]);
  },

  "the largest counts come first, equal ones by key, at most so many": async ({ store }) => {
    for (const type of ["b", "c", "a", "c"]) await dead(store, 2_000, { type });
    const keys = (await store.countDead({ by: "type", limit: 10 })).map(({ key }) => key);
    assert.deepEqual(keys, ["c", "a", "b"]);
    assert.equal((await store.countDead({ by: "type", limit: 2 })).length, 2);
  },

  "the counts follow a job that dies, is revived, dies again and goes": async ({ store }) => {
    const { id } = await insertOne(store, { maxAttempts: 9 });
    const why = { reason: null, by: null };
    const counts = async () =>
      (await store.countDead({ by: "fingerprint", limit: 10 })).map((one) => [one.key, one.count]);
    await settle(store, await takeOne(store), die("failed", failure({ fingerprint: "f1" })));
    assert.deepEqual(await counts(), [["f1", 1]]);
    await store.revive({ ids: [{ id }] }, { delayMs: 0, runAt: null, attempts: 1 }, why);
    assert.deepEqual(await counts(), []);
    await settle(store, await takeOne(store), die("failed", failure({ fingerprint: "f2" })));
    assert.deepEqual(await counts(), [["f2", 1]]);
    await store.remove({ ids: [{ id }] }, why);
    assert.deepEqual(await counts(), []);
  },

  "pruned jobs leave the counts": async ({ store }) => {
    await dead(store, 2_000, {});
    const policy = { queue: null, status: "dead", olderThanMs: 1, keep: null } as const;
    assert.equal(await store.prune([policy], 10), 1);
    assert.deepEqual(await store.countDead({ by: "queue", limit: 10 }), []);
  },
});
