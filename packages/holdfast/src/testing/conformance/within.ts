/** `insert` and `settle` inside the caller's own transaction: with it, or not at all. */
import assert from "node:assert/strict";
import { NotInTransactionError } from "../../core/errors.ts";
import type { Store, WithinTransaction } from "../../core/store.ts";
import { entriesOf, jobOf } from "./looking.ts";
import { insertOne, key, newJob, newJobs } from "./new-job.ts";
import type { CallersTransaction, StorePlace } from "./scenario.ts";
import { chapter } from "./scenario.ts";
import { ledgerEntry, release, renew, settle, settlement, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { PASSED_MS, SHORT_MS } from "./times.ts";

interface Inside extends CallersTransaction, WithinTransaction {}

/** Begins a caller's transaction and steps inside. Until it ends, nothing else is written. */
async function begin(store: Store, place: StorePlace): Promise<Inside> {
  const transaction = await place.transaction?.();
  assert.ok(transaction, "the place offers transactions");
  const within = store.within?.(transaction.tx);
  assert.ok(within, "the store has within");
  return {
    tx: transaction.tx,
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
    insert: (jobs, options) => within.insert(jobs, options),
    settle: (settlements) => within.settle(settlements),
    isOpen: () => within.isOpen(),
  };
}

export const within = chapter("within", {
  "a job inserted in a transaction is there once that commits": async ({ store, place }) => {
    const jobs = newJobs(3);
    const inside = await begin(store, place);
    const results = await inside.insert(jobs);
    assert.deepEqual(
      results.map((result) => result.outcome),
      ["added", "added", "added"],
    );
    assert.deepEqual(await store.get(jobs.map(({ id }) => ({ id }))), [null, null, null]);
    await inside.commit();
    assert.equal((await takeExactly(store, 3)).length, 3);
  },

  "a job inserted in a transaction that rolls back never was": async ({ store, place }) => {
    const job = newJob({ dedupe: key("k") });
    const inside = await begin(store, place);
    await inside.insert([job]);
    await inside.rollback();
    assert.deepEqual(await store.get([{ id: job.id }]), [null]);
    await takeNothing(store);
    assert.deepEqual(await store.insert([job]), [{ outcome: "added", id: job.id }]);
  },

  "keys are decided inside a transaction as outside": async ({ store, place }) => {
    const first = await insertOne(store, { dedupe: key("k") });
    const inside = await begin(store, place);
    const results = await inside.insert([
      newJob({ dedupe: key("k") }),
      newJob({ dedupe: key("k", "kept", "hash-2") }),
      newJob({ dedupe: key("other") }),
    ]);
    await inside.commit();
    assert.deepEqual(
      results.map((result) => result.outcome),
      ["duplicate", "conflict", "added"],
    );
    assert.equal((await jobOf(store, first)).status, "queued");
  },

  "the id of a job that is forgotten is free inside a transaction": async ({ store, place }) => {
    const job = newJob();
    await store.insert([job], { areNew: true });
    await settle(store, await takeOne(store), release());
    await store.remove({ ids: [{ id: job.id }] }, { reason: null, by: null });
    await place.advance(store.info().remembersMs);
    const inside = await begin(store, place);
    assert.deepEqual(await inside.insert([job]), [{ outcome: "added", id: job.id }]);
    await inside.commit();
    assert.equal((await jobOf(store, job)).status, "queued");
  },

  "one transaction sees what it inserted before": async ({ store, place }) => {
    const job = newJob({ dedupe: key("k") });
    const inside = await begin(store, place);
    await inside.insert([job]);
    assert.deepEqual(await inside.insert([job, newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: job.id, status: "queued" },
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
    await inside.commit();
    await takeExactly(store, 1);
    await takeNothing(store);
  },

  "a settle in a transaction takes effect once that commits": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const child = newJob();
    const inside = await begin(store, place);
    const extras = { spawn: [child], entries: [ledgerEntry()] };
    assert.deepEqual(await inside.settle([settlement(leased, succeed("1"), extras)]), ["settled"]);
    assert.equal((await jobOf(store, job)).status, "processing");
    await inside.commit();
    const { status, result } = await jobOf(store, job);
    assert.deepEqual([status, result], ["succeeded", "1"]);
    assert.equal((await takeOne(store)).id, child.id);
    assert.equal((await entriesOf(store)).length, 1);
  },

  "a settle in a transaction that rolls back never was": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const child = newJob();
    const inside = await begin(store, place);
    const extras = { spawn: [child], entries: [ledgerEntry()] };
    await inside.settle([settlement(leased, succeed("1"), extras)]);
    await inside.rollback();
    assert.equal((await jobOf(store, job)).status, "processing");
    assert.deepEqual(await store.get([{ id: child.id }]), [null]);
    assert.deepEqual(await entriesOf(store), []);
    assert.equal(await renew(store, leased), "kept");
    await settle(store, leased, succeed("2"));
    assert.equal((await jobOf(store, job)).result, "2");
  },

  "a stale settle in a transaction is lost and spoils nothing": async ({ store, place }) => {
    const job = await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const before = await jobOf(store, job);
    const other = newJob();
    const inside = await begin(store, place);
    const extras = { spawn: [newJob()] };
    assert.deepEqual(await inside.settle([settlement(stale, succeed("1"), extras)]), ["lost"]);
    await inside.insert([other]);
    await inside.commit();
    assert.deepEqual(await jobOf(store, job), before);
    await takeExactly(store, 2);
    await takeNothing(store);
  },

  "a settle in a transaction can be repeated after the commit": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const inside = await begin(store, place);
    await inside.settle([settlement(leased, succeed("1"))]);
    await inside.commit();
    const before = await jobOf(store, job);
    await settle(store, leased, succeed("1"));
    assert.deepEqual(await jobOf(store, job), before);
  },

  "insert and settle of one transaction are one step": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const next = newJob();
    const inside = await begin(store, place);
    await inside.settle([settlement(leased, succeed())]);
    await inside.insert([next]);
    await inside.commit();
    assert.equal((await jobOf(store, job)).status, "succeeded");
    assert.equal((await takeOne(store)).id, next.id);
  },

  "a transaction knows whether it is still open": async ({ store, place }) => {
    for (const end of ["commit", "rollback"] as const) {
      const inside = await begin(store, place);
      assert.equal(inside.isOpen(), true);
      await inside[end]();
      assert.equal(inside.isOpen(), false);
    }
  },

  "what is no transaction of the store's database is refused": async ({ store }) => {
    for (const tx of [{}, null, undefined, "tx", 7]) {
      await assert.rejects(
        async () => store.within?.(tx).insert([newJob()]),
        NotInTransactionError,
      );
    }
  },

  "a transaction that has ended is refused": async ({ store, place }) => {
    const inside = await begin(store, place);
    await inside.commit();
    await assert.rejects(
      async () => store.within?.(inside.tx).insert([newJob()]),
      NotInTransactionError,
    );
    await takeNothing(store);
  },

  "empty in is empty out inside a transaction": async ({ store, place }) => {
    const inside = await begin(store, place);
    assert.deepEqual(await inside.insert([]), []);
    assert.deepEqual(await inside.settle([]), []);
    await inside.commit();
  },
});
