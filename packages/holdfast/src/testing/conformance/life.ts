import assert from "node:assert/strict";
import { ClosedError } from "../../core/errors.ts";
import { jobOf } from "./looking.ts";
import { adoptedJob, insertOne, newJob, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { leaseRef, ledgerEntry, settle, settlement, succeed } from "./settling.ts";
import { leaseRequest, takeOne } from "./take.ts";
import { LONG_MS, SHORT_MS } from "./times.ts";

export const life = chapter("life", {
  "opening again changes nothing": async ({ store }) => {
    const job = await insertOne(store);
    await store.open();
    assert.equal((await jobOf(store, job)).id, job.id);
  },

  "closing again changes nothing": async ({ store }) => {
    await store.close();
    await store.close();
  },

  "every verb of a closed store says that it is closed": async ({ store }) => {
    await insertOne(store);
    const leased = await takeOne(store);
    const ids = { ids: [{ id: leased.id }] };
    const why = { reason: null, by: null };
    const due = { delayMs: 0, runAt: null };
    await store.close();
    const verbs: Record<string, () => Promise<unknown>> = {
      now: () => store.now(),
      insert: () => store.insert([newJob()]),
      adopt: () => store.adopt([adoptedJob()]),
      lease: () => store.lease(leaseRequest(1)),
      renew: () => store.renew([leaseRef(leased)], LONG_MS),
      settle: () => store.settle([settlement(leased, succeed())]),
      reap: () => store.reap({ limit: 1 }),
      cancel: () => store.cancel(ids, why),
      revive: () => store.revive(ids, { ...due, attempts: 1 }, why),
      reschedule: () => store.reschedule(ids, due, why),
      remove: () => store.remove(ids, why),
      prune: () => store.prune([{ queue: null, status: "dead", olderThanMs: 0, keep: 0 }], 1),
      get: () => store.get(ids.ids),
      place: () => store.place({ id: leased.id }),
      find: () => store.find({}, { limit: 1 }),
      count: () => store.count(),
      countDead: () => store.countDead({ by: "type", limit: 1 }),
      hold: () => store.hold([{ queue: QUEUE, group: null, owner: "pause", hold: null }]),
      limit: () => store.limit([{ queue: QUEUE, group: null, maxActive: 1 }]),
      lines: () => store.lines(QUEUE, { limit: 1 }),
      "outbox.read": () => store.outbox.read(1),
      "outbox.clear": () => store.outbox.clear(["1"]),
      "ledger.append": () => store.ledger.append([ledgerEntry()]),
      "ledger.read": () => store.ledger.read({}, { limit: 1 }),
      "ledger.count": () => store.ledger.count({}, 1),
      "ledger.amend": () => store.ledger.amend([{ id: "1", state: "x" }]),
      "ledger.trim": () => store.ledger.trim({ kind: "x", olderThanMs: 0, keep: null, limit: 1 }),
      "ledger.remove": () => store.ledger.remove(["1"]),
      "records.read": () => store.records.read(["a"]),
      "records.swap": () =>
        store.records.swap([{ key: "a", expect: null, value: "1", ttlMs: null }]),
      "records.scan": () => store.records.scan({ prefix: "", limit: 1 }),
    };
    for (const [name, verb] of Object.entries(verbs)) {
      await assert.rejects(verb, ClosedError, `${name} of a closed store`);
    }
  },

  "calls in flight finish before a store is closed": async ({ store }) => {
    const jobs = [newJob(), newJob(), newJob()];
    const inFlight = Promise.all(jobs.map((job) => store.insert([job])));
    await store.close();
    const outcomes = (await inFlight).map(([result]) => result?.outcome);
    assert.deepEqual(outcomes, ["added", "added", "added"]);
  },

  "what was acknowledged outlives the Store object, if info says so": async ({
    store,
    another,
  }) => {
    const job = await insertOne(store);
    if (!store.info().survives.processKill) return;
    await store.close();
    assert.equal((await jobOf(await another(), job)).id, job.id);
  },

  "several Store objects see the same jobs": async ({ store, another }) => {
    const other = await another();
    const job = await insertOne(store);
    const leased = await takeOne(other);
    assert.equal(leased.id, job.id);
    await settle(store, leased, succeed());
    assert.equal((await jobOf(other, job)).status, "succeeded");
  },

  "info says what the store can do": async ({ store }) => {
    const info = store.info();
    assert.ok(info.name.length > 0 && info.version.length > 0);
    for (const promise of Object.values(info.survives)) assert.equal(typeof promise, "boolean");
    assert.ok(["process", "processes"].includes(info.wakeups));
    assert.ok(["exact", "approximate"].includes(info.counts));
    assert.ok(["call", "job"].includes(info.insertAtomic));
    assert.ok(["atomic", "relayed"].includes(info.spawnsElsewhere));
    assert.ok(info.remembersMs >= 3_600_000, "deleted ids are remembered for an hour or more");
  },

  "the store's clock runs, and never backwards": async ({ store, place, another }) => {
    let last = await store.now();
    for (const ms of [0, SHORT_MS, 0, SHORT_MS]) {
      await place.advance(ms);
      const now = await (await another()).now();
      assert.ok(now >= last + ms);
      last = now;
    }
  },
});
