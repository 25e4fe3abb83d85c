import assert from "node:assert/strict";
import type { LedgerEntry, LedgerFilter } from "../../core/ledger.ts";
import type { Store } from "../../core/store.ts";
import { entriesOf } from "./looking.ts";
import { idsOf, insertOne, newId, sortedIdsOf } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { die, ledgerEntry, settle } from "./settling.ts";
import { takeOne } from "./take.ts";
import { HOUR_MS } from "./times.ts";

/** Appends entries with distinct times, oldest first. */
async function append(
  store: Store,
  ...overrides: readonly Partial<LedgerEntry>[]
): Promise<LedgerEntry[]> {
  const entries = overrides.map((one, index) => ledgerEntry({ at: 1_000 + index, ...one }));
  const results = await store.ledger.append(entries);
  assert.deepEqual(new Set(results), new Set(["added"]));
  return entries;
}

async function assertRead(
  store: Store,
  filter: LedgerFilter,
  expected: readonly (LedgerEntry | undefined)[],
): Promise<void> {
  const wanted = expected.filter((entry) => entry !== undefined);
  assert.deepEqual(sortedIdsOf(await entriesOf(store, filter)), sortedIdsOf(wanted));
}

export const ledger = chapter("ledger", {
  "an entry is kept as it was written": async ({ store }) => {
    const [entry] = await append(store, {
      kind: "audit",
      jobId: newId(),
      type: "email.send",
      queue: "mail",
      group: "tenant-7",
      category: "auth",
      fingerprint: "f1",
      company: "acme",
      isFinal: true,
      state: "open",
      body: '{ "who": "ann" }',
    });
    assert.deepEqual(await entriesOf(store), [{ ...entry, amendedAt: null }]);
  },

  "an entry without a time gets the ledger's": async ({ store }) => {
    const before = await store.now();
    await append(store, { at: null });
    const after = await store.now();
    const [entry] = await entriesOf(store);
    assert.ok(entry && before <= entry.at && entry.at <= after);
  },

  "appending again changes nothing": async ({ store }) => {
    const [entry] = await append(store, { body: '"first"', at: null });
    assert.ok(entry);
    const before = await entriesOf(store);
    const again = { ...entry, body: '"second"', state: "resolved" };
    assert.deepEqual(await store.ledger.append([again]), ["duplicate"]);
    assert.deepEqual(await entriesOf(store), before);
  },

  "a duplicate hinders no other, also inside one call": async ({ store }) => {
    const [first, second] = [ledgerEntry({ at: 1 }), ledgerEntry({ at: 2 })];
    assert.deepEqual(await store.ledger.append([first, first, second]), [
      "added",
      "duplicate",
      "added",
    ]);
    assert.equal((await entriesOf(store)).length, 2);
  },

  "the newest entry is read first": async ({ store }) => {
    const entries = await append(store, { at: 3_000 }, { at: 1_000 }, { at: 2_000 });
    const [newest, oldest, middle] = entries;
    assert.deepEqual(
      idsOf(await entriesOf(store)),
      [newest, middle, oldest].map((entry) => entry?.id),
    );
  },

  "pages of entries follow each other without gap or repetition": async ({ store }) => {
    const entries = await append(store, ...Array.from({ length: 23 }, () => ({})));
    assert.deepEqual(idsOf(await entriesOf(store, {}, 5)), idsOf(entries.toReversed()));
  },

  "entries of one instant are all read, page by page": async ({ store }) => {
    const entries = await append(store, ...Array.from({ length: 12 }, () => ({ at: 5_000 })));
    assert.deepEqual(sortedIdsOf(await entriesOf(store, {}, 5)), sortedIdsOf(entries));
  },

  "entries that come or change while one pages are no trouble": async ({ store }) => {
    const entries = await append(store, ...Array.from({ length: 9 }, () => ({})));
    const first = await store.ledger.read({}, { limit: 4 });
    await append(store, { at: 9_000 });
    await store.ledger.amend(entries.map(({ id }) => ({ id, state: "resolved" })));
    const seen = idsOf(first.entries);
    let cursor = first.nextCursor;
    while (cursor !== null) {
      const page = await store.ledger.read({}, { limit: 4, cursor });
      seen.push(...idsOf(page.entries));
      cursor = page.nextCursor;
    }
    assert.deepEqual(seen, idsOf(entries.toReversed()));
  },

  "entries are found by each of their words": async ({ store }) => {
    const words = [
      ...(["kind", "jobId", "type", "queue", "group", "category"] as const),
      ...(["fingerprint", "company", "state"] as const),
    ];
    for (const word of words) {
      const [wanted] = await append(store, { [word]: `wanted-${word}` }, { [word]: "other" });
      await assertRead(store, { [word]: `wanted-${word}` }, [wanted]);
    }
  },

  "entries are found by whether they are final, and those that do not say are neither": async ({
    store,
  }) => {
    const [yes, no] = await append(store, { isFinal: true }, { isFinal: false }, {});
    await assertRead(store, { isFinal: true }, [yes]);
    await assertRead(store, { isFinal: false }, [no]);
  },

  "what a writer leaves out is null": async ({ store }) => {
    const { fingerprint: _, company: __, isFinal: ___, ...bare } = ledgerEntry();
    await store.ledger.append([bare]);
    const [entry] = await entriesOf(store);
    assert.ok(entry);
    const { fingerprint, company, isFinal } = entry;
    assert.deepEqual([fingerprint, company, isFinal], [null, null, null]);
  },

  "a page by kind is full, however many other entries are newer": async ({ store }) => {
    const about = { queue: "mail", type: "email.send", category: "auth", jobId: newId() };
    const wanted = Array.from({ length: 20 }, (_, index) =>
      ledgerEntry({
        kind: "failure",
        fingerprint: "f1",
        state: "open",
        ...about,
        at: 1_000 + index,
      }),
    );
    await store.ledger.append(wanted);
    for (let batch = 0; batch < 30; batch++) {
      const crowd = Array.from({ length: 200 }, () => ledgerEntry({ kind: "tick", at: 5_000 }));
      await store.ledger.append(crowd);
    }
    const others = Array.from({ length: 10 }, () => ledgerEntry({ kind: "failure", at: 6_000 }));
    await store.ledger.append(others);
    const more = [{ queue: "mail" }, { type: "email.send" }, { category: "auth" }];
    const words: readonly LedgerFilter[] = [...more, { fingerprint: "f1" }, { jobId: about.jobId }];
    for (const word of words) {
      const { entries } = await store.ledger.read({ kind: "failure", ...word }, { limit: 20 });
      assert.deepEqual(idsOf(entries), idsOf(wanted.toReversed()), JSON.stringify(word));
    }
    const { entries } = await store.ledger.read({ kind: "failure", state: "open" }, { limit: 30 });
    assert.equal(entries.length, 30);
  },

  "entries are counted, to so many": async ({ store }) => {
    const [first] = await append(store, { queue: "a" }, { queue: "a" }, { queue: "b" });
    assert.ok(first);
    assert.equal(await store.ledger.count({}, 100), 3);
    assert.equal(await store.ledger.count({ queue: "a", kind: "failure" }, 100), 2);
    assert.equal(await store.ledger.count({ queue: "a" }, 1), 1);
    assert.equal(await store.ledger.count({ queue: "c" }, 100), 0);
    assert.equal(await store.ledger.count({ ids: [first.id, newId()] }, 100), 1);
    assert.equal(await store.ledger.count({ from: 1_001, to: 1_002 }, 100), 1);
  },

  "the empty group is a group, and no group is not it": async ({ store }) => {
    const [empty] = await append(store, { group: "" }, { group: null }, { group: "a" });
    await assertRead(store, { group: "" }, [empty]);
  },

  "entries are found by id and by time, from inclusive, to exclusive": async ({ store }) => {
    const [a, b, c] = await append(store, { at: 1_000 }, { at: 2_000 }, { at: 3_000 });
    assert.ok(a && b && c);
    await assertRead(store, { ids: [c.id, a.id, newId()] }, [a, c]);
    await assertRead(store, { ids: [] }, []);
    await assertRead(store, { from: 2_000 }, [b, c]);
    await assertRead(store, { to: 2_000 }, [a]);
    await assertRead(store, { from: 2_000, to: 3_000, ids: [a.id, b.id] }, [b]);
  },

  "all conditions must hold for an entry": async ({ store }) => {
    const [wanted] = await append(
      store,
      { kind: "failure", queue: "mail", category: "auth" },
      { kind: "audit", queue: "mail", category: "auth" },
      { kind: "failure", queue: "sms", category: "auth" },
      { kind: "failure", queue: "mail", category: "network" },
    );
    const filter = { kind: "failure", queue: "mail", category: "auth", state: "open", from: 0 };
    await assertRead(store, filter, [wanted]);
  },

  "an amendment replaces state, body or both, and nothing else": async ({ store }) => {
    const [a, b, c] = await append(store, {}, {}, {});
    assert.ok(a && b && c);
    const before = await store.now();
    const results = await store.ledger.amend([
      { id: a.id, state: "resolved" },
      { id: b.id, body: '"new"' },
      { id: c.id, state: "replayed", body: '"both"' },
      { id: newId(), state: "resolved" },
    ]);
    assert.deepEqual(results, ["amended", "amended", "amended", "missing"]);
    const read = (await entriesOf(store)).toReversed();
    assert.deepEqual(
      read.map((entry) => ({ ...entry, amendedAt: null })),
      [
        { ...a, state: "resolved", amendedAt: null },
        { ...b, body: '"new"', amendedAt: null },
        { ...c, state: "replayed", body: '"both"', amendedAt: null },
      ],
    );
    assert.ok(read.every((entry) => entry.amendedAt !== null && entry.amendedAt >= before));
  },

  "an amended entry is found by its new state only": async ({ store }) => {
    const [entry] = await append(store, {});
    assert.ok(entry);
    await store.ledger.amend([{ id: entry.id, state: "resolved" }]);
    await assertRead(store, { state: "resolved" }, [entry]);
    await assertRead(store, { state: "open" }, []);
  },

  "old entries of one kind are trimmed, at most so many": async ({ store }) => {
    const young = (await store.now()) - HOUR_MS / 2;
    const old = young - 10 * HOUR_MS;
    const ages = [old, old + 1, old + 2, young];
    const entries = await append(store, ...ages.map((at) => ({ at, kind: "tick" })));
    const [audit] = await append(store, { at: old, kind: "audit" });
    const request = { kind: "tick", olderThanMs: HOUR_MS, keep: null, limit: 2 };
    let trimmed = 0;
    for (let call = 0; call < 5; call++) {
      const count = await store.ledger.trim(request);
      assert.ok(count <= 2);
      trimmed += count;
    }
    assert.equal(trimmed, 3);
    await assertRead(store, {}, [entries[3], audit]);
  },

  "of the entries of one kind the newest are kept": async ({ store }) => {
    const ticks = await append(store, ...Array.from({ length: 5 }, () => ({ kind: "tick" })));
    const [audit] = await append(store, { kind: "audit" });
    const request = { kind: "tick", olderThanMs: null, keep: 2, limit: 2 };
    let trimmed = 0;
    for (let call = 0; call < 5; call++) trimmed += await store.ledger.trim(request);
    assert.equal(trimmed, 3);
    await assertRead(store, {}, [ticks[3], ticks[4], audit]);
  },

  "entries are trimmed past either bound, and not without one": async ({ store }) => {
    const young = (await store.now()) - HOUR_MS / 2;
    const ages = [young - 9 * HOUR_MS, young, young + 1, young + 2];
    const entries = await append(store, ...ages.map((at) => ({ at, kind: "tick" })));
    const none = { kind: "tick", olderThanMs: null, keep: null, limit: 10 };
    assert.equal(await store.ledger.trim(none), 0);
    assert.equal(await store.ledger.trim({ ...none, olderThanMs: HOUR_MS, keep: 2 }), 2);
    await assertRead(store, {}, [entries[2], entries[3]]);
  },

  "entries that are removed are gone from every list, and can be appended again": async ({
    store,
  }) => {
    const job = await insertOne(store);
    const settled = ledgerEntry({ jobId: job.id, kind: "tick" });
    await settle(store, await takeOne(store), die(), { entries: [settled] });
    const [first, second] = await append(store, { kind: "tick" }, { kind: "tick" });
    assert.ok(first && second);
    assert.equal(await store.ledger.remove([settled.id, first.id, "none", first.id]), 2);
    assert.equal(await store.ledger.remove([settled.id, first.id]), 0);
    assert.equal(await store.ledger.remove([]), 0);
    await assertRead(store, {}, [second]);
    await assertRead(store, { kind: "tick" }, [second]);
    await assertRead(store, { jobId: job.id }, []);
    assert.equal(await store.ledger.count({}, 10), 1);
    assert.deepEqual(await store.ledger.append([first]), ["added"]);
  },

  "entries of a settle are in the ledger with the outcome": async ({ store }) => {
    const job = await insertOne(store);
    const entry = ledgerEntry({ jobId: job.id, body: '{"why":"refused"}' });
    await settle(store, await takeOne(store), die(), { entries: [entry] });
    const [stored] = await entriesOf(store, { jobId: job.id });
    assert.deepEqual({ ...stored, at: null, amendedAt: null }, { ...entry, amendedAt: null });
  },

  "entries outlive their job": async ({ store }) => {
    const job = await insertOne(store);
    const entry = ledgerEntry({ jobId: job.id });
    await settle(store, await takeOne(store), die(), { entries: [entry] });
    await store.remove({ ids: [{ id: job.id }] }, { reason: null, by: null });
    await assertRead(store, { jobId: job.id }, [entry]);
  },
});
