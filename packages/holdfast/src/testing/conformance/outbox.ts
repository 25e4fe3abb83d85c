import assert from "node:assert/strict";
import type { LedgerEntry } from "../../core/ledger.ts";
import type { Store } from "../../core/store.ts";
import { entriesOf } from "./looking.ts";
import { insertOne, insertSome, newJob } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { die, ledgerEntry, settle, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";

async function entriesWaiting(store: Store): Promise<LedgerEntry[]> {
  const items = await store.outbox.read(100);
  return items.flatMap((item) => (item.kind === "entries" ? item.entries : []));
}

export const outbox = chapter("outbox", {
  "entries for a ledger elsewhere wait in the outbox, as they are": async ({ store }) => {
    await insertOne(store);
    const entries = [
      ledgerEntry({
        jobId: "j",
        type: "t",
        queue: "q",
        group: "g",
        category: "auth",
        body: '{"a":1}',
        at: 7,
      }),
      ledgerEntry(),
    ];
    await settle(store, await takeOne(store), die(), { outbox: entries });
    assert.deepEqual(await entriesWaiting(store), entries);
    assert.deepEqual(await entriesOf(store), []);
  },

  "a settle without entries leaves the outbox empty": async ({ store }) => {
    await insertOne(store);
    await settle(store, await takeOne(store), succeed(), { outbox: [], entries: [], spawn: [] });
    assert.deepEqual(await store.outbox.read(10), []);
  },

  "what is read stays until it is cleared": async ({ store }) => {
    await insertOne(store);
    await settle(store, await takeOne(store), die(), { outbox: [ledgerEntry()] });
    const first = await store.outbox.read(10);
    assert.deepEqual(await store.outbox.read(10), first);
    await store.outbox.clear(first.map((item) => item.id));
    assert.deepEqual(await store.outbox.read(10), []);
  },

  "the oldest items are read first, at most so many": async ({ store }) => {
    await insertSome(store, 5);
    const entries: LedgerEntry[] = [];
    for (const leased of await takeExactly(store, 5)) {
      const entry = ledgerEntry();
      entries.push(entry);
      await settle(store, leased, die(), { outbox: [entry] });
    }
    const seen: LedgerEntry[] = [];
    for (let read = 0; read < 10 && seen.length < 5; read++) {
      const items = await store.outbox.read(2);
      assert.ok(items.length <= 2);
      seen.push(...items.flatMap((item) => (item.kind === "entries" ? item.entries : [])));
      await store.outbox.clear(items.map((item) => item.id));
    }
    assert.deepEqual(seen, entries);
  },

  "clearing some leaves the others": async ({ store }) => {
    await insertSome(store, 2);
    for (const leased of await takeExactly(store, 2)) {
      await settle(store, leased, die(), { outbox: [ledgerEntry()] });
    }
    const [first, second] = await store.outbox.read(10);
    assert.ok(first && second);
    await store.outbox.clear([first.id]);
    assert.deepEqual(await store.outbox.read(10), [second]);
  },

  "clearing again, or what never was, changes nothing": async ({ store }) => {
    await insertOne(store);
    await settle(store, await takeOne(store), die(), { outbox: [ledgerEntry()] });
    const [item] = await store.outbox.read(10);
    assert.ok(item);
    await store.outbox.clear([item.id]);
    await store.outbox.clear([item.id]);
    assert.deepEqual(await store.outbox.read(10), []);
  },

  "spawned jobs for elsewhere are either stored or wait to be relayed": async ({ store }) => {
    await insertOne(store);
    const child = newJob({ queue: "sms" });
    await settle(store, await takeOne(store), succeed(), { spawn: [child] });
    const items = await store.outbox.read(10);
    const waiting = items.flatMap((item) => (item.kind === "jobs" ? item.jobs : []));
    if (store.info().spawnsElsewhere === "relayed") {
      assert.deepEqual(waiting, [child]);
      await takeNothing(store, { queue: "sms" });
    } else {
      assert.deepEqual(waiting, []);
      assert.equal((await takeOne(store, { queue: "sms" })).id, child.id);
    }
  },

  "the outbox outlives the job it came from": async ({ store }) => {
    await insertOne(store);
    const entry = ledgerEntry();
    await settle(store, await takeOne(store), succeed(), { outbox: [entry], discard: true });
    assert.deepEqual(await entriesWaiting(store), [entry]);
  },
});
