/** The ten laws of the seam, one by one, each over all the verbs it speaks of. */
import assert from "node:assert/strict";
import { InvalidCursorError } from "../../core/errors.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { assertCounts, entriesOf, FINISHED, findAll, jobOf, lineOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  insertOne,
  insertSome,
  key,
  newId,
  newJob,
  QUEUE,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import {
  cancelled,
  die,
  ledgerEntry,
  release,
  renew,
  retry,
  settle,
  settlement,
  snooze,
  succeed,
} from "./settling.ts";
import { leaseRequest, takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const WHY = { reason: "why", by: "ann" };
const REVIVAL = { delayMs: 0, runAt: null, attempts: 1 };
const NO_CHANGES = { changes: [], nextCursor: null };

/** Calls a verb twice, as after a lost reply. */
async function twice<Reply>(verb: () => Promise<Reply>): Promise<Reply> {
  await verb();
  return verb();
}

/** What can be seen of one job and its line, without what may differ between two looks. */
async function seen(store: Store, job: { readonly id: string }): Promise<unknown> {
  return {
    job: await jobOf(store, job),
    line: await lineOf(store, "a"),
    counts: await store.count(),
  };
}

export const laws = chapter("laws", {
  "law 1: empty in, empty out": async ({ store }) => {
    assert.deepEqual(await store.insert([]), []);
    assert.deepEqual(await store.adopt([]), []);
    assert.deepEqual(await store.renew([], LONG_MS), []);
    assert.deepEqual(await store.settle([]), []);
    assert.deepEqual(await store.cancel({ ids: [] }, WHY), NO_CHANGES);
    assert.deepEqual(await store.revive({ ids: [] }, REVIVAL, WHY), NO_CHANGES);
    assert.deepEqual(await store.reschedule({ ids: [] }, REVIVAL, WHY), NO_CHANGES);
    assert.deepEqual(await store.remove({ ids: [] }, WHY), NO_CHANGES);
    assert.deepEqual(await store.get([]), []);
    assert.deepEqual(await store.lease({ ...leaseRequest(1), queues: [] }), {
      jobs: [],
      nextInMs: null,
    });
    assert.deepEqual(await store.ledger.append([]), []);
    assert.deepEqual(await store.ledger.amend([]), []);
    assert.deepEqual(await store.records.read([]), []);
    assert.deepEqual(await store.records.swap([]), []);
    await store.hold([]);
    await store.limit([]);
    await store.outbox.clear([]);
    assert.deepEqual(await store.count(), []);
  },

  "law 1: a fresh place is empty, whatever one asks it": async ({ store }) => {
    assert.deepEqual(await store.find({}, { limit: 10 }), { jobs: [], nextCursor: null });
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    assert.deepEqual(await store.outbox.read(10), []);
    assert.deepEqual(await store.ledger.read({}, { limit: 10 }), {
      entries: [],
      nextCursor: null,
    });
    assert.deepEqual(await store.records.scan({ prefix: "", limit: 10 }), {
      records: [],
      nextCursor: null,
    });
    assert.equal(await store.place({ id: newId() }), null);
  },

  "law 1: order in is order out, whatever becomes of each item": async ({ store }) => {
    await store.limit([{ queue: "small", group: null, maxWaiting: 1 }]);
    const [first, gone] = [await insertOne(store, { dedupe: key("k") }), await insertOne(store)];
    await store.remove({ ids: [{ id: gone.id }] }, WHY);
    const results = await store.insert([
      newJob({ queue: "small" }),
      gone,
      newJob({ dedupe: key("k", "kept", "hash-2") }),
      newJob(),
      newJob({ queue: "small" }),
      first,
      newJob({ dedupe: key("k") }),
    ]);
    assert.deepEqual(
      results.map((result) => result.outcome),
      ["added", "duplicate", "conflict", "added", "full", "duplicate", "duplicate"],
    );
  },

  "law 2: trouble with one item is a result, and the others are done": async ({ store }) => {
    await insertSome(store, 4);
    const [a, b, c, d] = await takeExactly(store, 4);
    assert.ok(a && b && c && d);
    const results = await store.settle([
      settlement(a, succeed()),
      settlement({ ...b, fence: b.fence + 1 }, succeed()),
      settlement({ ...c, id: newId() }, succeed()),
      settlement(d, die()),
    ]);
    assert.deepEqual(results, ["settled", "lost", "lost", "settled"]);
    await assertCounts(store, { processing: 2, succeeded: 1, dead: 1 });
  },

  "law 2: a cursor that no store gave out is refused, wherever there are pages": async ({
    store,
  }) => {
    await insertSome(store, 3);
    await store.ledger.append([ledgerEntry(), ledgerEntry()]);
    for (const cursor of ["not a cursor", "{}", "é", "AAAA"]) {
      const page = { limit: 1, cursor };
      const step = { filter: {}, frozenAt: 0, ...page };
      await assert.rejects(store.find({}, page), InvalidCursorError);
      await assert.rejects(store.cancel(step, WHY), InvalidCursorError);
      await assert.rejects(store.lines(QUEUE, page), InvalidCursorError);
      await assert.rejects(store.ledger.read({}, page), InvalidCursorError);
      await assert.rejects(store.records.scan({ prefix: "lock:", ...page }), InvalidCursorError);
    }
  },

  "law 3: jobs that go in twice are there once": async ({ store }) => {
    const [job, adopted] = [newJob(), adoptedJob()];
    await twice(() => store.insert([job]));
    await twice(() => store.adopt([adopted]));
    await assertCounts(store, { ready: 2 });
  },

  "law 3: an operator's hand may slip and do it twice": async ({ store }) => {
    const job = await insertOne(store, { group: "a" });
    const ids = [{ id: job.id }];
    await twice(() => store.reschedule({ ids }, { delayMs: LONG_MS, runAt: null }, WHY));
    await twice(() => store.cancel({ ids }, WHY));
    await twice(() => store.revive({ ids }, REVIVAL, WHY));
    const { status, maxAttempts } = await jobOf(store, job);
    assert.deepEqual([status, maxAttempts], ["queued", 1]);
    await twice(() => store.remove({ ids }, WHY));
    await assertCounts(store, {});
  },

  "law 3: settings, ledger and outbox bear repetition": async ({ store }) => {
    const hold = { forMs: null, reason: "closed", by: null };
    await twice(() => store.hold([{ queue: QUEUE, group: "a", owner: "pause", hold }]));
    await twice(() => store.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]));
    const entry = ledgerEntry();
    await twice(() => store.ledger.append([entry]));
    await twice(() => store.ledger.amend([{ id: entry.id, state: "resolved" }]));
    assert.equal((await lineOf(store, "a")).holds.length, 1);
    assert.deepEqual(
      (await entriesOf(store)).map((one) => [one.id, one.state]),
      [[entry.id, "resolved"]],
    );
  },

  "law 3: a swap that was repeated after a lost reply shows its own value": async ({ store }) => {
    const swap = { key: "lock", expect: null, value: '"mine"', ttlMs: null };
    const [result] = await twice(() => store.records.swap([swap]));
    assert.ok(result && !result.swapped);
    assert.equal(result.current?.value, '"mine"');
  },

  "law 4: a stale worker changes nothing and is told so": async ({ store, place }) => {
    const job = await insertOne(store, { group: "a" });
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const holder = await takeOne(store, { worker: "worker-2" });
    const before = await seen(store, job);
    const updates = { logs: ["stale"], checkpoint: "1", steps: [{ name: "s", value: "1" }] };
    assert.equal(await renew(store, stale, updates), "lost");
    for (const outcome of [succeed(), retry(), snooze(), release(), cancelled(), die()]) {
      const extras = { updates, spawn: [newJob({ group: "a" })], entries: [ledgerEntry()] };
      const results = await store.settle([settlement(stale, outcome, extras)]);
      assert.deepEqual(results, ["lost"]);
    }
    assert.deepEqual(await seen(store, job), before);
    assert.deepEqual(await entriesOf(store), []);
    await settle(store, holder, succeed());
  },

  "law 4: a worker's name gives it no right to an attempt that it lost": async ({
    store,
    place,
  }) => {
    await insertOne(store);
    const first = await takeOne(store, { worker: "same", leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const second = await takeOne(store, { worker: "same" });
    assert.deepEqual(await store.settle([settlement(first, succeed("1"))]), ["lost"]);
    await settle(store, second, succeed("2"));
  },

  "law 4: no way of a job resets its fence": async ({ store, place }) => {
    const job = await insertOne(store, { maxAttempts: 50 });
    const ids = [{ id: job.id }];
    const ways: ((leased: LeasedJob) => Promise<void>)[] = [
      (leased) => settle(store, leased, retry()),
      (leased) => settle(store, leased, snooze()),
      (leased) => settle(store, leased, release()),
      async () => {
        await place.advance(PASSED_MS);
        await store.reap({ limit: 1 });
      },
      async (leased) => {
        await settle(store, leased, die());
        await store.revive({ ids }, REVIVAL, WHY);
      },
      async (leased) => {
        await store.cancel({ ids }, WHY);
        await settle(store, leased, retry());
        await store.revive({ ids }, { ...REVIVAL, payload: { json: "2", hash: null } }, WHY);
      },
    ];
    let last = 0;
    for (const way of ways) {
      const leased = await takeOne(store, { leaseMs: SHORT_MS });
      assert.ok(leased.fence > last);
      last = leased.fence;
      await way(leased);
      assert.ok((await jobOf(store, job)).fence >= last);
    }
    assert.ok((await takeOne(store)).fence > last);
  },

  "law 5: one holder at a time, and after expiry and reaping somebody else": async ({
    store,
    place,
    another,
  }) => {
    const job = await insertOne(store);
    const other = await another();
    await takeOne(store, { worker: "worker-1", leaseMs: SHORT_MS });
    await takeNothing(other, { worker: "worker-2" });
    await place.advance(PASSED_MS);
    assert.equal((await other.reap({ limit: 1 })).length, 1);
    assert.equal((await takeOne(other, { worker: "worker-2" })).id, job.id);
    await takeNothing(store, { worker: "worker-1" });
  },

  "law 6: due times and ends of leases are instants of the store's clock": async ({ store }) => {
    const job = await insertOne(store, { delayMs: 0 });
    const now = await store.now();
    await takeOne(store, { leaseMs: LONG_MS });
    const { createdAt, leaseUntil } = await jobOf(store, job);
    assert.ok(createdAt <= now && now - createdAt < LONG_MS);
    assert.ok(leaseUntil !== null && leaseUntil > now && leaseUntil < now + 2 * LONG_MS);
  },

  "law 7: a store kills nothing and decides no delay": async ({ store }) => {
    const job = await insertOne(store, { maxAttempts: 1 });
    await settle(store, await takeOne(store), retry(0));
    assert.equal((await jobOf(store, job)).status, "queued");
    const again = await takeOne(store);
    assert.equal(again.exhausted, true);
    await settle(store, again, retry(0));
    assert.equal((await takeOne(store)).id, job.id);
  },

  "law 8: text comes back byte for byte": async ({ store }) => {
    const payload =
      '{ "b" : 1,\n  "a": 1.0, "n": 12345678901234567890, "e": 1e400, "a": "\\u00e9" }';
    const job = await insertOne(store, { payload });
    assert.equal((await takeOne(store)).payload, payload);
    assert.equal((await jobOf(store, job)).payload, payload);
  },

  "law 9: retention never touches work that has not finished": async ({ store, place }) => {
    await insertSome(store, 3);
    await takeOne(store);
    await insertOne(store, { delayMs: LONG_MS });
    await adoptAll(store, [adoptedJob({ createdAt: 1, runAt: 1 })]);
    await place.advance(TICK_MS);
    const policies = FINISHED.map((status) => ({ queue: null, status, olderThanMs: 0, keep: 0 }));
    assert.equal(await store.prune(policies, 200), 0);
    assert.equal((await findAll(store, {})).length, 5);
  },

  "law 10: what info says of transactions is so, and is what is proved here": async ({
    store,
    place,
    declared,
  }) => {
    const { transactions } = store.info();
    assert.equal(store.within !== undefined, transactions);
    assert.equal(declared.transactions, transactions);
    assert.equal(place.transaction !== undefined, transactions);
    assert.equal(place.rewind !== undefined, declared.rewinds);
  },
});
