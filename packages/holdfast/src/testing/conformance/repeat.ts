/**
 * A settle whose reply was lost is sent again, and nobody knows how much later. The last settle of a
 * job is recognised whatever happened since; a stale one is refused whatever happened since.
 */
import assert from "node:assert/strict";
import { assertPruned, entriesOf, findAll, jobOf } from "./looking.ts";
import { insertOne, newJob, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import {
  cancelled,
  defer,
  die,
  ledgerEntry,
  release,
  retry,
  settle,
  settleLost,
  settlement,
  snooze,
  succeed,
} from "./settling.ts";
import { takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const NOBODY = { reason: null, by: null };

/** Everything a settlement can bring along; none of it may come from a stale worker. */
function entries() {
  return {
    updates: {
      progress: { percent: 99, message: "stale" },
      logs: ["stale"],
      checkpoint: '"stale"',
      steps: [{ name: "stale", value: "1" }],
    },
    spawn: [newJob({ type: "spawned", delayMs: LONG_MS })],
    entries: [ledgerEntry()],
    outbox: [ledgerEntry()],
  };
}

export const repeat = chapter("settle, repeated or stale", {
  "repeating a settle changes nothing, whatever the outcome": async ({ store }) => {
    const waits = [retry(LONG_MS), defer(LONG_MS), snooze(LONG_MS), release(LONG_MS)];
    for (const outcome of [...waits, succeed("1"), die(), cancelled("no")]) {
      const job = await insertOne(store);
      const leased = await takeOne(store);
      await settle(store, leased, outcome);
      const before = await jobOf(store, job);
      await settle(store, leased, outcome);
      assert.deepEqual(await jobOf(store, job), before);
    }
  },

  "one settle given twice in one call is done once": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const once = settlement(leased, snooze(LONG_MS), { updates: { logs: ["once"] } });
    assert.deepEqual(await store.settle([once, once]), ["settled", "settled"]);
    const { attempts, logs } = await jobOf(store, job);
    assert.deepEqual([attempts, logs.length], [0, 1]);
  },

  "a repeated settle is recognised after a later attempt has begun": async ({ store }) => {
    const job = await insertOne(store);
    const first = await takeOne(store);
    await settle(store, first, retry());
    await takeOne(store, { worker: "worker-2" });
    const before = await jobOf(store, job);
    await settle(store, first, retry());
    assert.deepEqual(await jobOf(store, job), before);
  },

  "an attempt is given back once, however often that is said": async ({ store }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), retry());
    const second = await takeOne(store);
    for (let time = 0; time < 3; time++) await settle(store, second, release(LONG_MS));
    assert.equal((await jobOf(store, job)).attempts, 1);
  },

  "a repeated settle brings its entries once": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const brought = entries();
    for (let time = 0; time < 2; time++) await settle(store, leased, succeed(), brought);
    assert.equal((await findAll(store, { type: "spawned" })).length, 1);
    assert.equal((await entriesOf(store)).length, 1);
    const relayed = (await store.outbox.read(10)).filter((item) => item.kind === "entries");
    assert.equal(relayed.flatMap((item) => item.entries).length, 1);
    assert.equal((await jobOf(store, job)).logs.length, 1);
  },

  "a settle that was taken is not undone by another outcome under its fence": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, succeed("1"));
    const before = await jobOf(store, job);
    await store.settle([settlement(leased, die(), entries())]);
    assert.deepEqual(await jobOf(store, job), before);
    assert.deepEqual(await findAll(store, { type: "spawned" }), []);
    assert.deepEqual(await entriesOf(store), []);
  },

  "a repeated settle is recognised after its job was not kept": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const extras = { discard: true, entries: [ledgerEntry()] };
    for (let time = 0; time < 2; time++) await settle(store, leased, succeed(), extras);
    await assertPruned(store, job);
    assert.equal((await entriesOf(store)).length, 1);
  },

  "a repeated settle is recognised after its job was removed": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, succeed());
    await store.remove({ ids: [{ id: job.id }] }, NOBODY);
    await settle(store, leased, succeed());
    await assertPruned(store, job);
  },

  "a repeated settle is recognised after its job was pruned": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, succeed());
    await place.advance(TICK_MS);
    await store.prune([{ queue: QUEUE, status: "succeeded", olderThanMs: 0, keep: null }], 10);
    await settle(store, leased, succeed());
    await assertPruned(store, job);
  },

  "a stale settle is refused while the job waits again": async ({ store, place }) => {
    const job = await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const before = await jobOf(store, job);
    await settleLost(store, stale, succeed("1"), entries());
    assert.deepEqual(await jobOf(store, job), before);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a stale settle is refused while somebody else runs the job": async ({ store, place }) => {
    const job = await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const current = await takeOne(store, { worker: "worker-2" });
    const before = await jobOf(store, job);
    for (const outcome of [succeed("1"), retry(), snooze(), release(), cancelled(), die()]) {
      await settleLost(store, stale, outcome, entries());
    }
    assert.deepEqual(await jobOf(store, job), before);
    await settle(store, current, succeed("2"));
    assert.equal((await jobOf(store, job)).result, "2");
  },

  "a stale settle is refused after somebody else has finished the job": async ({
    store,
    place,
  }) => {
    const job = await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    await settle(store, await takeOne(store, { worker: "worker-2" }), succeed("2"));
    const before = await jobOf(store, job);
    await settleLost(store, stale, die(), entries());
    assert.deepEqual(await jobOf(store, job), before);
  },

  "a stale settle is refused after its job was removed": async ({ store, place }) => {
    const job = await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    await store.remove({ ids: [{ id: job.id }] }, NOBODY);
    await settleLost(store, stale, succeed("1"), entries());
    await assertPruned(store, job);
    assert.deepEqual(await findAll(store, { type: "spawned" }), []);
  },

  "a stale worker's spawned jobs and entries do not exist": async ({ store, place }) => {
    await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    await settleLost(store, stale, succeed(), {
      ...entries(),
      spawn: [newJob({ type: "spawned" }), newJob({ type: "spawned", queue: "sms" })],
    });
    assert.deepEqual(await findAll(store, { type: "spawned" }), []);
    assert.deepEqual(await entriesOf(store), []);
    assert.deepEqual(await store.outbox.read(10), []);
  },

  "an earlier settle, repeated after a later one, changes nothing": async ({ store }) => {
    const job = await insertOne(store);
    const first = await takeOne(store);
    await settle(store, first, retry());
    await settle(store, await takeOne(store), succeed("2"));
    const before = await jobOf(store, job);
    await store.settle([settlement(first, retry(), entries())]);
    assert.deepEqual(await jobOf(store, job), before);
    await takeNothing(store);
  },

  "a settle repeated after a revival changes nothing": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, die());
    const revival = { delayMs: 0, runAt: null, attempts: 1 };
    await store.revive({ ids: [{ id: job.id }] }, revival, NOBODY);
    const before = await jobOf(store, job);
    await store.settle([settlement(leased, die(), entries())]);
    assert.deepEqual(await jobOf(store, job), before);
    assert.equal((await takeOne(store)).id, job.id);
  },
});
