/** Jobs that are stored with their parent's outcome: all of them, or none. */
import assert from "node:assert/strict";
import { findAll, jobOf, linesOf } from "./looking.ts";
import { idsOf, insertOne, key, newJob, newJobs, QUEUE, sortedIdsOf } from "./new-job.ts";
import { relay } from "./relay.ts";
import { chapter } from "./scenario.ts";
import { die, retry, settle, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS } from "./times.ts";

export const spawn = chapter("spawn", {
  "spawned jobs are there with their parent's success": async ({ store }) => {
    const parent = await insertOne(store);
    const children = newJobs(3);
    await settle(store, await takeOne(store), succeed(), { spawn: children });
    assert.equal((await jobOf(store, parent)).status, "succeeded");
    assert.deepEqual(idsOf(await takeExactly(store, 3)), idsOf(children));
  },

  "a spawned job is stored with everything it was given": async ({ store }) => {
    await insertOne(store);
    const child = newJob({
      group: "tenant-7",
      type: "email.track",
      payload: '{"to":"a@example.com"}',
      priority: 7,
      delayMs: LONG_MS,
      maxAttempts: 2,
      dedupe: key("track:1"),
      tags: ["child"],
      meta: "{}",
    });
    await settle(store, await takeOne(store), succeed(), { spawn: [child] });
    const stored = await jobOf(store, child);
    const { dedupe: _dedupe, delayMs: _delayMs, runAt: _runAt, ...given } = child;
    assert.deepEqual({ ...stored, ...given, dedupeKey: "track:1", status: "queued" }, stored);
    await takeNothing(store);
  },

  "a settle carries as much as one job may spawn, wherever in the jobs it is": async ({
    store,
  }) => {
    await insertOne(store);
    const [meta, tags] = [JSON.stringify("m".repeat(15 * 1024)), ["t".repeat(200)]];
    const children = newJobs(64, { meta, tags });
    await settle(store, await takeOne(store), succeed(), { spawn: children });
    await relay(store);
    assert.deepEqual(idsOf(await takeExactly(store, 64)), idsOf(children));
  },

  "a spawned job of another queue arrives there": async ({ store }) => {
    await insertOne(store);
    const child = newJob({ queue: "sms" });
    await settle(store, await takeOne(store), succeed(), { spawn: [child] });
    await relay(store);
    assert.equal((await takeOne(store, { queue: "sms" })).id, child.id);
  },

  "relaying again makes no second job": async ({ store }) => {
    await insertOne(store);
    const child = newJob({ queue: "sms" });
    await settle(store, await takeOne(store), succeed(), { spawn: [child] });
    const items = await store.outbox.read(10);
    await relay(store);
    for (const item of items) {
      if (item.kind === "jobs") await store.insert(item.jobs, { evenIfFull: true });
    }
    await takeOne(store, { queue: "sms" });
    await takeNothing(store, { queue: "sms" });
  },

  "a success may spawn two hundred jobs of several queues and groups": async ({ store }) => {
    await insertOne(store);
    const children = Array.from({ length: 200 }, (_, index) =>
      newJob({ queue: index % 4 === 0 ? "sms" : QUEUE, group: `g${index % 3}`, type: "child" }),
    );
    await settle(store, await takeOne(store), succeed(), { spawn: children });
    await relay(store);
    assert.deepEqual(sortedIdsOf(await findAll(store, { type: "child" })), sortedIdsOf(children));
    assert.equal((await linesOf(store)).filter((line) => line.group !== "").length, 3);
  },

  "spawned jobs go into a full queue": async ({ store }) => {
    await insertOne(store);
    const leased = await takeOne(store);
    await insertOne(store, { group: "other" });
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    await settle(store, leased, succeed(), { spawn: newJobs(3) });
    assert.equal((await takeExactly(store, 4)).length, 4);
  },

  "a spawned duplicate of a key is dropped and noted in its parent's log": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k"), delayMs: LONG_MS });
    const parent = await insertOne(store);
    const [duplicate, fresh] = [newJob({ dedupe: key("k") }), newJob()];
    await settle(store, await takeOne(store), succeed(), { spawn: [duplicate, fresh] });
    const { status, logs } = await jobOf(store, parent);
    assert.deepEqual([status, logs.length], ["succeeded", 1]);
    assert.deepEqual(await store.get([{ id: duplicate.id }]), [null]);
    assert.equal((await takeOne(store)).id, fresh.id);
    assert.equal((await jobOf(store, first)).status, "queued");
  },

  "a spawned conflict is dropped and noted in its parent's log": async ({ store }) => {
    await insertOne(store, { dedupe: key("k"), delayMs: LONG_MS });
    const parent = await insertOne(store);
    const conflict = newJob({ dedupe: key("k", "kept", "hash-2") });
    await settle(store, await takeOne(store), succeed(), { spawn: [conflict] });
    const { status, logs } = await jobOf(store, parent);
    assert.deepEqual([status, logs.length], ["succeeded", 1]);
    assert.deepEqual(await store.get([{ id: conflict.id }]), [null]);
  },

  "of two spawned jobs with one key the earlier is stored": async ({ store }) => {
    const parent = await insertOne(store);
    const [first, second] = [newJob({ dedupe: key("k") }), newJob({ dedupe: key("k") })];
    await settle(store, await takeOne(store), succeed(), { spawn: [first, second] });
    assert.equal((await takeOne(store)).id, first.id);
    assert.deepEqual(await store.get([{ id: second.id }]), [null]);
    assert.equal((await jobOf(store, parent)).logs.length, 1);
  },

  "a spawned job whose id is there already is dropped": async ({ store }) => {
    const there = await insertOne(store, { delayMs: LONG_MS, payload: '"first"' });
    const parent = await insertOne(store);
    const spawned = [newJob({ id: there.id, payload: '"second"' })];
    await settle(store, await takeOne(store), succeed(), { spawn: spawned });
    assert.equal((await jobOf(store, there)).payload, '"first"');
    assert.equal((await jobOf(store, parent)).logs.length, 1);
  },

  "a key until finished is free for the job that its holder spawns": async ({ store }) => {
    await insertOne(store, { dedupe: key("chain", "until-finished") });
    const next = newJob({ dedupe: key("chain", "until-finished") });
    await settle(store, await takeOne(store), succeed(), { spawn: [next] });
    assert.equal((await takeOne(store)).id, next.id);
  },

  "a failed attempt may spawn as well": async ({ store }) => {
    await insertOne(store);
    const [first, second] = [newJob(), newJob()];
    await settle(store, await takeOne(store), retry(LONG_MS), { spawn: [first] });
    await settle(store, await takeOne(store), die(), { spawn: [second] });
    assert.equal((await takeOne(store)).id, second.id);
  },

  "a discarded parent's spawned jobs stay": async ({ store }) => {
    await insertOne(store);
    const child = newJob();
    await settle(store, await takeOne(store), succeed(), { spawn: [child], discard: true });
    assert.equal((await takeOne(store)).id, child.id);
  },

  "a spawned job is not spawned again after it finished and is gone": async ({ store }) => {
    await insertOne(store);
    const parent = await takeOne(store);
    const child = newJob();
    await settle(store, parent, succeed(), { spawn: [child] });
    await settle(store, await takeOne(store), succeed(), { discard: true });
    await settle(store, parent, succeed(), { spawn: [child] });
    await takeNothing(store);
  },
});
