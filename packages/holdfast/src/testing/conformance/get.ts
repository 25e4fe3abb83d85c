import assert from "node:assert/strict";
import { assertPruned, jobOf } from "./looking.ts";
import { insertOne, insertSome, newId, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { retry, settle, succeed } from "./settling.ts";
import { takeExactly, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

const NOBODY = { reason: null, by: null };

export const get = chapter("get and place", {
  "jobs come in the order of their ids, unknown ones as null": async ({ store }) => {
    const [first, second] = await insertSome(store, 2);
    assert.ok(first && second);
    const gone = await insertOne(store);
    await store.remove({ ids: [{ id: gone.id }] }, NOBODY);
    const ids = [second.id, newId(), gone.id, first.id, second.id];
    const found = await store.get(ids.map((id) => ({ id })));
    assert.deepEqual(
      found.map((job) => (job === null || job === "pruned" ? job : job.id)),
      [second.id, null, "pruned", first.id, second.id],
    );
  },

  "a queue that is named finds the same job": async ({ store }) => {
    const job = await insertOne(store, { queue: "sms" });
    assert.deepEqual(
      await store.get([{ id: job.id, queue: "sms" }]),
      await store.get([{ id: job.id }]),
    );
  },

  "a job that finished and was not kept is remembered as pruned": async ({ store }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), succeed(), { discard: true });
    await assertPruned(store, job);
    assert.deepEqual(await store.get([{ id: job.id, queue: QUEUE }]), ["pruned"]);
  },

  "two hundred jobs are got in one call": async ({ store }) => {
    const jobs = await insertSome(store, 200);
    const found = await store.get(jobs.map(({ id }) => ({ id })));
    assert.equal(found.filter((job) => job !== null && job !== "pruned").length, 200);
  },

  "updatedAt moves on with every change": async ({ store, place }) => {
    const job = await insertOne(store);
    const instants = [(await jobOf(store, job)).updatedAt];
    await place.advance(SHORT_MS);
    const leased = await takeOne(store);
    instants.push((await jobOf(store, job)).updatedAt);
    await place.advance(SHORT_MS);
    await settle(store, leased, retry(LONG_MS));
    instants.push((await jobOf(store, job)).updatedAt);
    await place.advance(SHORT_MS);
    await store.cancel({ ids: [{ id: job.id }] }, NOBODY);
    instants.push((await jobOf(store, job)).updatedAt);
    for (const [index, instant] of instants.entries()) {
      assert.ok(index === 0 || instant > (instants[index - 1] ?? Infinity));
    }
  },

  "startedAt is the newest attempt's, createdAt the first insert's": async ({ store, place }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), retry());
    const first = await jobOf(store, job);
    await place.advance(SHORT_MS);
    await takeOne(store, { worker: "worker-2" });
    const second = await jobOf(store, job);
    assert.ok((second.startedAt ?? 0) > (first.startedAt ?? Infinity));
    assert.deepEqual([second.createdAt, second.worker], [first.createdAt, "worker-2"]);
  },

  "a place is the number of ready jobs before it in its line": async ({ store }) => {
    const [first, second, third] = await insertSome(store, 3);
    assert.ok(first && second && third);
    await insertSome(store, 4, { group: "other" });
    const urgent = await insertOne(store, { priority: 0 });
    const places = [];
    for (const { id } of [urgent, first, second, third]) {
      places.push(await store.place({ id, queue: QUEUE }));
    }
    assert.deepEqual(places, [0, 1, 2, 3]);
  },

  "places move up when the head of the line is leased": async ({ store }) => {
    const jobs = await insertSome(store, 3);
    const last = jobs[2]?.id ?? "";
    await takeExactly(store, 1);
    assert.equal(await store.place({ id: last }), 1);
  },

  "only a ready job has a place": async ({ store }) => {
    await insertOne(store);
    const running = await takeOne(store);
    const delayed = await insertOne(store, { delayMs: LONG_MS });
    const gone = await insertOne(store);
    await store.cancel({ ids: [{ id: gone.id }] }, NOBODY);
    for (const id of [running.id, delayed.id, gone.id, newId()]) {
      assert.equal(await store.place({ id }), null);
    }
  },

  "a job that became due has a place": async ({ store, place }) => {
    const job = await insertOne(store, { delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.equal(await store.place({ id: job.id, queue: QUEUE }), 0);
  },
});
