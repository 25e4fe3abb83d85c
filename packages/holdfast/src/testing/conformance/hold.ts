import assert from "node:assert/strict";
import type { HoldChange } from "../../core/line.ts";
import { lineOf, queueOf } from "./looking.ts";
import { idsOf, insertOne, insertSome, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { renew, retry, settle, succeed } from "./settling.ts";
import { leaseRequest, take, takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

function held(overrides: Partial<HoldChange> = {}): HoldChange {
  const hold = { forMs: null, reason: "provider down", by: "ann" };
  return { queue: QUEUE, group: null, owner: "pause", hold, ...overrides };
}

function released(overrides: Partial<HoldChange> = {}): HoldChange {
  return held({ ...overrides, hold: null });
}

function heldFor(forMs: number, overrides: Partial<HoldChange> = {}): HoldChange {
  return held({ hold: { forMs, reason: "cooling down", by: null }, ...overrides });
}

export const hold = chapter("hold", {
  "a held queue hands out nothing until it is released": async ({ store, another }) => {
    await insertSome(store, 3);
    await insertSome(store, 3, { group: "a" });
    await store.hold([held()]);
    await takeNothing(store);
    await takeNothing(await another());
    await store.hold([released()]);
    await takeExactly(store, 6);
  },

  "a held line leaves the others of its queue open": async ({ store }) => {
    await insertSome(store, 3, { group: "a" });
    const open = await insertSome(store, 2, { group: "b" });
    const plain = await insertOne(store);
    await store.hold([held({ group: "a" })]);
    const taken = await takeExactly(store, 3);
    assert.deepEqual(new Set(idsOf(taken)), new Set(idsOf([...open, plain])));
    await takeNothing(store);
  },

  "a hold of the line without a group leaves the groups open": async ({ store }) => {
    await insertOne(store);
    const grouped = await insertOne(store, { group: "a" });
    await store.hold([held({ group: "" })]);
    assert.equal((await takeOne(store)).id, grouped.id);
    await takeNothing(store);
  },

  "a held queue leaves other queues open": async ({ store }) => {
    await insertOne(store);
    const sms = await insertOne(store, { queue: "sms" });
    await store.hold([held()]);
    assert.deepEqual(idsOf(await take(store, 5, { queues: [QUEUE, "sms"] })), [sms.id]);
  },

  "a hold is in force before there are jobs or queue": async ({ store }) => {
    await store.hold([held({ group: "a" })]);
    await insertOne(store, { group: "a" });
    await takeNothing(store);
  },

  "jobs go into a held line and wait there": async ({ store }) => {
    await store.hold([held()]);
    const jobs = await insertSome(store, 3);
    await takeNothing(store);
    await store.hold([released()]);
    assert.deepEqual(idsOf(await takeExactly(store, 3)), idsOf(jobs));
  },

  "a line runs only when no owner holds it": async ({ store }) => {
    await insertOne(store);
    await store.hold([held({ owner: "pause" }), held({ owner: "breaker:smtp" })]);
    await store.hold([released({ owner: "pause" })]);
    await takeNothing(store);
    await store.hold([released({ owner: "breaker:smtp" })]);
    await takeOne(store);
  },

  "releasing removes only one's own hold": async ({ store }) => {
    await insertOne(store);
    await store.hold([held({ owner: "breaker:smtp" })]);
    await store.hold([released({ owner: "pause" })]);
    await takeNothing(store);
  },

  "releasing what is not held changes nothing": async ({ store }) => {
    await store.hold([released({ queue: "unheard-of" }), released({ group: "unheard-of" })]);
    assert.deepEqual(await store.count(), []);
    await insertOne(store);
    await store.hold([released({ group: "unheard-of" }), released({ group: "" }), released()]);
    await takeOne(store);
  },

  "an owner's holds of a queue and of its lines are separate": async ({ store }) => {
    await insertOne(store, { group: "a" });
    await store.hold([held(), held({ group: "a" })]);
    await store.hold([released()]);
    await takeNothing(store);
    await store.hold([released({ group: "a" })]);
    await takeOne(store);
  },

  "a hold with an end is over by itself": async ({ store, place }) => {
    await insertOne(store);
    await insertOne(store, { group: "a" });
    await store.hold([heldFor(SHORT_MS), heldFor(SHORT_MS, { group: "a", owner: "cooldown" })]);
    await place.advance(PASSED_MS);
    await takeExactly(store, 2);
  },

  "of two holds the longer one counts": async ({ store, place }) => {
    await insertOne(store, { group: "a" });
    await store.hold([
      heldFor(SHORT_MS, { group: "a", owner: "cooldown" }),
      heldFor(LONG_MS, { group: "a", owner: "breaker" }),
    ]);
    await place.advance(PASSED_MS);
    await takeNothing(store);
  },

  "an owner that holds again replaces its hold": async ({ store, place }) => {
    await insertOne(store);
    await store.hold([heldFor(LONG_MS)]);
    await store.hold([heldFor(SHORT_MS)]);
    await place.advance(PASSED_MS);
    await takeOne(store);
  },

  "changes of one call are made in order": async ({ store }) => {
    await insertOne(store);
    await store.hold([held(), released()]);
    await takeOne(store);
    await insertOne(store);
    await store.hold([released(), held()]);
    await takeNothing(store);
  },

  "a lease says when the next hold ends": async ({ store }) => {
    await insertOne(store, { group: "a" });
    await store.hold([heldFor(LONG_MS, { group: "a" })]);
    const { jobs, nextInMs } = await store.lease(leaseRequest(1));
    assert.deepEqual(jobs, []);
    assert.ok(nextInMs !== null && nextInMs > 0 && nextInMs <= LONG_MS);
  },

  "a lease of a queue that is held for a time says when that ends": async ({ store }) => {
    await insertOne(store);
    await store.hold([heldFor(LONG_MS)]);
    const { nextInMs } = await store.lease(leaseRequest(1));
    assert.ok(nextInMs !== null && nextInMs > 0 && nextInMs <= LONG_MS);
  },

  "a lease does not call held jobs ready": async ({ store }) => {
    await insertSome(store, 3);
    await store.hold([held()]);
    assert.deepEqual(await store.lease(leaseRequest(1)), { jobs: [], nextInMs: null });
  },

  "jobs that run go on when their line is held": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await store.hold([held()]);
    assert.equal(await renew(store, leased), "kept");
    await settle(store, leased, retry());
    await takeNothing(store);
    await store.hold([released()]);
    const again = await takeOne(store);
    assert.equal(again.id, job.id);
    await settle(store, again, succeed());
  },

  "delayed jobs that become due in a held line wait for it": async ({ store, place }) => {
    const job = await insertOne(store, { group: "a", delayMs: SHORT_MS });
    await store.hold([held({ group: "a" })]);
    await place.advance(PASSED_MS);
    await takeNothing(store);
    await store.hold([released({ group: "a" })]);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "many jobs in held lines do not hide one in an open line": async ({ store }) => {
    const groups = Array.from({ length: 20 }, (_, index) => `held-${index}`);
    for (const group of groups) await insertSome(store, 20, { group });
    await store.hold(groups.map((group) => held({ group })));
    const open = await insertOne(store, { group: "open" });
    assert.equal((await takeOne(store)).id, open.id);
  },

  "a hold can be read, with owner, reason, by whom, since and until": async ({ store }) => {
    const before = await store.now();
    await store.hold([held(), heldFor(LONG_MS, { group: "a", owner: "cooldown:smtp" })]);
    const after = await store.now();
    const [pause] = (await queueOf(store)).holds;
    const [cooldown] = (await lineOf(store, "a")).holds;
    assert.ok(pause && cooldown);
    assert.deepEqual(
      [pause.owner, pause.reason, pause.by, pause.until],
      ["pause", "provider down", "ann", null],
    );
    assert.ok(before <= pause.since && pause.since <= after);
    assert.deepEqual([cooldown.owner, cooldown.by], ["cooldown:smtp", null]);
    const { until } = cooldown;
    assert.ok(until !== null && before + LONG_MS <= until && until <= after + LONG_MS);
  },

  "a hold that has ended is no longer shown": async ({ store, place }) => {
    await store.hold([heldFor(SHORT_MS), heldFor(LONG_MS, { owner: "breaker:smtp" })]);
    await place.advance(PASSED_MS);
    const owners = (await queueOf(store)).holds.map((one) => one.owner);
    assert.deepEqual(owners, ["breaker:smtp"]);
  },

  "holding and releasing twice changes nothing": async ({ store }) => {
    await store.hold([held()]);
    await store.hold([held()]);
    assert.equal((await queueOf(store)).holds.length, 1);
    await store.hold([released()]);
    await store.hold([released()]);
    assert.deepEqual((await queueOf(store)).holds, []);
  },
});
