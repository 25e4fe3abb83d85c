import assert from "node:assert/strict";
import type { StoredRecord, Swap } from "../../core/records.ts";
import type { Store } from "../../core/store.ts";
import { scanAll } from "./looking.ts";
import { chapter } from "./scenario.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

function swapOf(overrides: Partial<Swap> = {}): Swap {
  return { key: "gate:smtp", expect: null, value: "1", ttlMs: null, ...overrides };
}

/** A swap that must succeed; answers the new version. */
async function write(store: Store, overrides: Partial<Swap> = {}): Promise<number> {
  const [result] = await store.records.swap([swapOf(overrides)]);
  assert.ok(result?.swapped && result.version !== null, "the record is written");
  return result.version;
}

async function deleteAt(store: Store, expect: number): Promise<void> {
  const results = await store.records.swap([swapOf({ expect, value: null })]);
  assert.deepEqual(results, [{ swapped: true, version: null }]);
}

async function recordOf(store: Store, key = "gate:smtp"): Promise<StoredRecord | null> {
  const [record] = await store.records.read([key]);
  return record ?? null;
}

export const records = chapter("records", {
  "a new record is read as it was written": async ({ store }) => {
    const version = await write(store, { value: '{ "tokens": 3 }' });
    assert.deepEqual(await recordOf(store), {
      key: "gate:smtp",
      version,
      value: '{ "tokens": 3 }',
      expiresAt: null,
    });
  },

  "records come in the order of their keys, unknown ones as null": async ({ store }) => {
    await write(store, { key: "a" });
    await write(store, { key: "b" });
    const found = await store.records.read(["b", "unknown", "a", "b"]);
    assert.deepEqual(
      found.map((record) => record?.key ?? null),
      ["b", null, "a", "b"],
    );
  },

  "a swap with the version that was read succeeds, and the version grows": async ({ store }) => {
    const first = await write(store);
    const second = await write(store, { expect: first, value: "2" });
    assert.ok(second > first);
    assert.equal((await recordOf(store))?.value, "2");
  },

  "of callers who swap the same many records at once, one wins each, and knows it": async ({
    store,
  }) => {
    const keys = Array.from({ length: 40 }, (_, at) => `shared:${String(at).padStart(2, "0")}`);
    const made = await store.records.swap(keys.map((key) => swapOf({ key, value: '"none"' })));
    let versions = made.map((one) => (one.swapped ? one.version : null));
    for (let round = 0; round < 5; round += 1) {
      const callers = ["ann", "ben", "cy"].map(async (name, at) => {
        // Each has some of its own, so that none wins or loses a whole call.
        const some = keys.flatMap((key, index) => (index % 4 === at ? [] : [{ key, index }]));
        const swaps = some.map(({ key, index }) =>
          swapOf({ key, expect: versions[index] ?? null, value: JSON.stringify(name) }),
        );
        const results = await store.records.swap(swaps);
        return some.flatMap(({ key }, index) => (results[index]?.swapped ? [{ key, name }] : []));
      });
      const won = (await Promise.all(callers)).flat();
      const stored = await store.records.read(keys);
      assert.deepEqual(
        won.map(({ key, name }) => `${key} ${JSON.stringify(name)}`).toSorted(),
        stored.map((record) => `${record?.key} ${record?.value}`),
      );
      versions = stored.map((record) => record?.version ?? null);
    }
  },

  "a swap with an old version changes nothing and shows what is there": async ({ store }) => {
    const first = await write(store);
    await write(store, { expect: first, value: "2" });
    const current = await recordOf(store);
    const results = await store.records.swap([swapOf({ expect: first, value: "3" })]);
    assert.deepEqual(results, [{ swapped: false, current }]);
    assert.deepEqual(await recordOf(store), current);
  },

  "a record that must be new is refused if there is one": async ({ store }) => {
    await write(store);
    const current = await recordOf(store);
    assert.deepEqual(await store.records.swap([swapOf({ value: "2" })]), [
      { swapped: false, current },
    ]);
  },

  "a swap of a record that is gone is refused": async ({ store }) => {
    const version = await write(store);
    await deleteAt(store, version);
    assert.deepEqual(await store.records.swap([swapOf({ expect: version })]), [
      { swapped: false, current: null },
    ]);
  },

  "a deleted record is gone": async ({ store }) => {
    await deleteAt(store, await write(store));
    assert.equal(await recordOf(store), null);
    assert.deepEqual(await scanAll(store, ""), []);
  },

  "a version never comes back after deletion": async ({ store }) => {
    const seen = new Set<number>();
    for (let time = 0; time < 5; time++) {
      const version = await write(store);
      assert.ok(!seen.has(version) && version > Math.max(0, ...seen));
      seen.add(version);
      await deleteAt(store, version);
    }
    const current = await write(store, { value: '"newest"' });
    for (const expect of seen) {
      const [result] = await store.records.swap([swapOf({ expect, value: '"stale"' })]);
      assert.equal(result?.swapped, false);
    }
    assert.equal((await recordOf(store))?.version, current);
  },

  "a version never comes back after expiry and cleaning up": async ({ store, place }) => {
    const first = await write(store, { ttlMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.prune([], 100);
    const second = await write(store);
    assert.ok(second > first);
    const [result] = await store.records.swap([swapOf({ expect: first, value: "3" })]);
    assert.equal(result?.swapped, false);
  },

  "an expired record is gone": async ({ store, place }) => {
    const version = await write(store, { ttlMs: SHORT_MS });
    await write(store, { key: "other", ttlMs: LONG_MS });
    await place.advance(PASSED_MS);
    assert.deepEqual(await recordOf(store), null);
    assert.deepEqual(
      (await scanAll(store, "")).map((record) => record.key),
      ["other"],
    );
    assert.deepEqual(await store.records.swap([swapOf({ expect: version })]), [
      { swapped: false, current: null },
    ]);
    await write(store);
  },

  "an expiry is so long from now, by the store's clock": async ({ store }) => {
    const before = await store.now();
    await write(store, { ttlMs: LONG_MS });
    const after = await store.now();
    const expiresAt = (await recordOf(store))?.expiresAt ?? 0;
    assert.ok(before + LONG_MS <= expiresAt && expiresAt <= after + LONG_MS);
  },

  "every swap sets the expiry anew": async ({ store, place }) => {
    const first = await write(store, { ttlMs: SHORT_MS });
    const second = await write(store, { expect: first, ttlMs: LONG_MS });
    await place.advance(PASSED_MS);
    assert.equal((await recordOf(store))?.version, second);
    await write(store, { expect: second, ttlMs: null });
    assert.equal((await recordOf(store))?.expiresAt, null);
  },

  "each swap of a call stands alone": async ({ store }) => {
    await write(store, { key: "taken" });
    const results = await store.records.swap([
      swapOf({ key: "a" }),
      swapOf({ key: "taken" }),
      swapOf({ key: "b" }),
    ]);
    assert.deepEqual(
      results.map((result) => result.swapped),
      [true, false, true],
    );
  },

  "the swaps of a call are done in order": async ({ store }) => {
    const [first, second] = await store.records.swap([
      swapOf({ value: '"first"' }),
      swapOf({ value: '"second"' }),
    ]);
    assert.deepEqual([first?.swapped, second?.swapped], [true, false]);
    const version = (await recordOf(store))?.version ?? 0;
    const results = await store.records.swap([
      swapOf({ expect: version, value: null }),
      swapOf({ expect: null, value: '"new"' }),
    ]);
    assert.deepEqual(
      results.map((result) => result.swapped),
      [true, true],
    );
    assert.equal((await recordOf(store))?.value, '"new"');
  },

  "two hundred records are swapped and read in one call": async ({ store }) => {
    const keys = Array.from({ length: 200 }, (_, index) => `worker:${index}`);
    const results = await store.records.swap(keys.map((key) => swapOf({ key, value: `"${key}"` })));
    assert.ok(results.every((result) => result.swapped));
    const found = await store.records.read(keys);
    assert.deepEqual(
      found.map((record) => record?.value),
      keys.map((key) => `"${key}"`),
    );
  },

  "a scan lists what starts with the prefix, by key, page by page": async ({ store }) => {
    const keys = ["lock:b", "lock:a", "lock:B", "lock:é", "lock:", "lock", "locks", "lock:a:1"];
    for (const key of keys) await write(store, { key });
    assert.deepEqual(
      (await scanAll(store, "lock:", 2)).map((record) => record.key),
      ["lock:", "lock:B", "lock:a", "lock:a:1", "lock:b", "lock:é"],
    );
  },

  "a prefix is plain text, no pattern": async ({ store }) => {
    for (const key of ["a_b%c", "axb%c", "a_bxc", "a*[b]?", "aXXb", "a\\b", "A_B%C"]) {
      await write(store, { key });
    }
    const keysOf = async (prefix: string) =>
      (await scanAll(store, prefix)).map((record) => record.key);
    assert.deepEqual(await keysOf("a_b%"), ["a_b%c"]);
    assert.deepEqual(await keysOf("a*[b]"), ["a*[b]?"]);
    assert.deepEqual(await keysOf("a\\"), ["a\\b"]);
  },

  "a scan with an empty prefix lists everything": async ({ store }) => {
    for (const key of ["b", "a"]) await write(store, { key });
    assert.deepEqual(
      (await scanAll(store, "")).map((record) => record.key),
      ["a", "b"],
    );
  },

  "records that come or go while one scans are no trouble to the others": async ({ store }) => {
    const keys = Array.from({ length: 9 }, (_, index) => `k${index}`);
    for (const key of keys) await write(store, { key });
    const first = await store.records.scan({ prefix: "k", limit: 3 });
    await write(store, { key: "k00" });
    const seen = first.records.map((record) => record.key);
    let cursor = first.nextCursor;
    while (cursor !== null) {
      const page = await store.records.scan({ prefix: "k", limit: 3, cursor });
      seen.push(...page.records.map((record) => record.key));
      cursor = page.nextCursor;
    }
    assert.deepEqual(
      seen.filter((key) => key !== "k00"),
      keys,
    );
  },
});
