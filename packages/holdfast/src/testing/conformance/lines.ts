import assert from "node:assert/strict";
import { lineOf, linesOf, queueOf } from "./looking.ts";
import { insertOne, insertSome, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { settle, succeed } from "./settling.ts";
import { take, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

export const lines = chapter("lines", {
  "a queue that nobody has heard of is null and has no lines": async ({ store }) => {
    assert.deepEqual(await store.lines("unheard-of", { limit: 10 }), {
      queue: null,
      lines: [],
      nextCursor: null,
    });
  },

  "a page begins with the group that it is asked to begin with": async ({ store }) => {
    for (const group of ["a", "b", "b2", "ü", ""]) await insertOne(store, { group });
    const groups = async (from: string, limit = 10) =>
      (await store.lines(QUEUE, { limit, from })).lines.map(({ group }) => group);
    assert.deepEqual(await groups(""), ["", "a", "b", "b2", "ü"]);
    assert.deepEqual(await groups("b"), ["b", "b2", "ü"]);
    assert.deepEqual(await groups("b1"), ["b2", "ü"]);
    assert.deepEqual(await groups("ü"), ["ü"]);
    assert.deepEqual((await groups("b", 1)).slice(0, 1), ["b"]);
    const first = await store.lines(QUEUE, { limit: 1, from: "b" });
    const rest = await store.lines(QUEUE, { limit: 10, cursor: first.nextCursor });
    assert.deepEqual(
      rest.lines.map(({ group }) => group),
      ["b2", "ü"],
    );
  },

  "a plain queue has no holds and no bounds": async ({ store }) => {
    await insertOne(store);
    assert.deepEqual(await queueOf(store), {
      queue: QUEUE,
      maxActive: null,
      maxActivePerGroup: null,
      maxWaiting: null,
      active: 0,
      holds: [],
    });
  },

  "a line shows what waits, what runs and how old its head is": async ({ store, place }) => {
    const before = await store.now();
    await insertSome(store, 3, { group: "a" });
    const after = await store.now();
    await place.advance(SHORT_MS);
    await insertOne(store, { group: "a" });
    await takeOne(store);
    const { oldestAt, ...line } = await lineOf(store, "a");
    assert.deepEqual(line, {
      queue: QUEUE,
      group: "a",
      waiting: 3,
      active: 1,
      maxActive: null,
      weight: 1,
      holds: [],
    });
    assert.ok(oldestAt !== null && before <= oldestAt && oldestAt <= after);
  },

  "the jobs without a group are the line of the empty group": async ({ store }) => {
    await insertSome(store, 2);
    const { waiting, active } = await lineOf(store, "");
    assert.deepEqual([waiting, active], [2, 0]);
  },

  "delayed jobs do not count as waiting before they are due": async ({ store, place }) => {
    await insertOne(store, { group: "a" });
    await insertOne(store, { group: "a", delayMs: LONG_MS });
    await insertOne(store, { group: "a", delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.equal((await lineOf(store, "a")).waiting, 2);
  },

  "a line that only runs has no oldest waiting job": async ({ store }) => {
    await insertOne(store, { group: "a" });
    await takeOne(store);
    const { waiting, active, oldestAt } = await lineOf(store, "a");
    assert.deepEqual([waiting, active, oldestAt], [0, 1, null]);
  },

  "a queue and its lines show how many run": async ({ store }) => {
    await insertSome(store, 3, { group: "a" });
    await insertSome(store, 2, { group: "b" });
    const [first] = await take(store, 5);
    assert.ok(first);
    assert.equal((await queueOf(store)).active, 5);
    await settle(store, first, succeed());
    assert.equal((await queueOf(store)).active, 4);
    const active = [await lineOf(store, "a"), await lineOf(store, "b")].map((line) => line.active);
    assert.equal(
      active.reduce((sum, one) => sum + one),
      4,
    );
  },

  "lines come by group, page by page": async ({ store }) => {
    const groups = ["B", "a", "c", "b", "", "a1", "tenant-10", "tenant-9"];
    for (const group of groups) await insertOne(store, { group });
    const listed = (await linesOf(store, QUEUE, 3)).map((line) => line.group);
    assert.deepEqual(listed, ["", "B", "a", "a1", "b", "c", "tenant-10", "tenant-9"]);
  },

  "a line with nothing but settings or a hold is listed": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "limited", maxActive: 2 }]);
    const hold = { forMs: null, reason: "closed", by: null };
    await store.hold([{ queue: QUEUE, group: "held", owner: "pause", hold }]);
    const listed = (await linesOf(store)).map((line) => line.group);
    assert.deepEqual(listed, ["held", "limited"]);
    assert.equal((await lineOf(store, "held")).holds[0]?.reason, "closed");
  },

  "a line whose jobs have all finished is no longer listed": async ({ store }) => {
    await insertOne(store, { group: "a" });
    await insertOne(store, { group: "b" });
    await settle(store, await takeOne(store), succeed());
    assert.equal((await linesOf(store)).length, 1);
    await settle(store, await takeOne(store), succeed());
    assert.deepEqual(await linesOf(store), []);
  },

  "the lines of one queue say nothing of another's": async ({ store }) => {
    await insertOne(store, { group: "a" });
    await insertOne(store, { queue: "sms", group: "b" });
    const listed = (await linesOf(store, "sms")).map((line) => [line.queue, line.group]);
    assert.deepEqual(listed, [["sms", "b"]]);
  },
});
