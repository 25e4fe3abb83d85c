import { describe, expect, it } from "vitest";
import type { Records } from "../../core/records.ts";
import { memoryStore } from "../../stores/memory/index.ts";
import { mergeStats } from "./merge-stats.ts";
import { readStats, windowOf } from "./read-stats.ts";
import { HOUR_MS, LIVE, liveKey, MINUTE_MS, scanAll, TTL_MS } from "./stats-records.ts";
import { Tally } from "./tally.ts";

const START = Date.UTC(2030, 0, 1, 12);
const FIRST_MINUTE = START / MINUTE_MS;

async function world() {
  let now = START;
  const store = memoryStore({ now: () => now });
  await store.open();
  const { records } = store;
  return {
    records,
    advance: (ms: number) => void (now += ms),
    merge: (through: Records = records) => mergeStats(through, now),
    async counted(minute: number, process: string, succeeded: number): Promise<void> {
      const tally = new Tally();
      const series = tally.series("mail", "send");
      series.succeeded += succeeded;
      for (let one = 0; one < succeeded; one += 1) series.run.add(10);
      const key = liveKey(FIRST_MINUTE + minute, process);
      const value = JSON.stringify(tally.rows());
      await records.swap([{ key, expect: null, value, ttlMs: TTL_MS }]);
    },
    async total(lastMs: number): Promise<number> {
      let succeeded = 0;
      await readStats(records, windowOf(now, lastMs), (_, row) => (succeeded += row[2]));
      return succeeded;
    },
  };
}

/** Stops at its n-th call: before it is done, or after, when the caller cannot know. */
function failingAt(records: Records, at: number, isDone: boolean): Records {
  let calls = 0;
  const guarded =
    <Args extends unknown[], Out>(verb: (...args: Args) => Promise<Out>) =>
    async (...args: Args): Promise<Out> => {
      calls += 1;
      if (calls === at && !isDone) throw new Error("killed");
      const out = await verb(...args);
      if (calls === at) throw new Error("killed");
      return out;
    };
  return {
    read: guarded((keys) => records.read(keys)),
    swap: guarded((swaps) => records.swap(swaps)),
    scan: guarded((request) => records.scan(request)),
  };
}

describe("merging what processes counted", () => {
  it("makes one record of a minute, and counts are the same before and after", async () => {
    const { records, advance, merge, counted, total } = await world();
    for (let process = 0; process < 300; process += 1) await counted(0, `p${process}`, 2);
    await counted(1, "p0", 5);
    expect(await total(HOUR_MS)).toBe(605);
    advance(MINUTE_MS + 20_000);
    await merge();
    expect((await scanAll(records, LIVE)).map(({ key }) => key)).toEqual([
      liveKey(FIRST_MINUTE + 1, "p0"),
    ]);
    expect(await scanAll(records, "holdfast/stats/minute/")).toHaveLength(1);
    expect(await total(HOUR_MS)).toBe(605);
  });

  it("closes an hour ten minutes after its end, and forgets its minutes two hours after", async () => {
    const { records, advance, merge, counted, total } = await world();
    for (let minute = 0; minute < 60; minute += 1) await counted(minute, "p", 1);
    advance(HOUR_MS + 5 * MINUTE_MS);
    await merge();
    expect(await scanAll(records, "holdfast/stats/hour/")).toHaveLength(0);
    expect(await total(24 * HOUR_MS)).toBe(60);
    advance(5 * MINUTE_MS);
    const nextMs = await merge();
    expect(await scanAll(records, "holdfast/stats/hour/")).toHaveLength(1);
    expect(await scanAll(records, "holdfast/stats/minute/")).toHaveLength(60);
    expect(await total(24 * HOUR_MS)).toBe(60);
    expect(await total(2 * HOUR_MS)).toBe(60);
    advance(nextMs!);
    expect(await merge()).toBeNull();
    expect(await scanAll(records, "holdfast/stats/minute/")).toHaveLength(0);
    expect(await total(24 * HOUR_MS)).toBe(60);
  });

  it("counts what comes after its hour was closed, once", async () => {
    const { advance, merge, counted, total } = await world();
    await counted(3, "p", 4);
    advance(2 * HOUR_MS);
    await merge();
    // A process of which only this was left, for as long as no other had anything to merge.
    await counted(5, "late", 7);
    expect(await total(24 * HOUR_MS)).toBe(11);
    advance(MINUTE_MS);
    await merge();
    expect(await total(24 * HOUR_MS)).toBe(11);
    advance(MINUTE_MS);
    await counted(5, "late", 7);
    await merge();
    expect(await total(24 * HOUR_MS)).toBe(11);
  });

  it("counts nothing twice and loses nothing, wherever a merge is killed", async () => {
    for (const isDone of [false, true]) {
      for (let at = 1; at < 60; at += 1) {
        const { records, advance, merge, counted, total } = await world();
        const both = async (minute: number) => {
          for (const process of ["a", "b"]) await counted(minute, process, 1);
        };
        for (const minute of [0, 1]) await both(minute);
        advance(2 * MINUTE_MS + 20_000);
        const killed = async () => merge(failingAt(records, at, isDone)).catch(() => {});
        await killed();
        expect(await total(HOUR_MS), `${at} ${isDone}`).toBe(4);
        advance(70 * MINUTE_MS);
        for (const minute of [59, 61]) await both(minute);
        await killed();
        expect(await total(24 * HOUR_MS), `${at} ${isDone}`).toBe(8);
        advance(MINUTE_MS);
        await merge();
        expect(await scanAll(records, LIVE), `${at} ${isDone}`).toEqual([]);
        expect(await total(24 * HOUR_MS), `${at} ${isDone}`).toBe(8);
        advance(3 * HOUR_MS);
        await merge();
        expect(await total(24 * HOUR_MS), `${at} ${isDone}`).toBe(8);
      }
    }
  });

  it("is safe if several processes do it at the same time", async () => {
    const { records, advance, merge, counted, total } = await world();
    for (let process = 0; process < 20; process += 1) await counted(0, `p${process}`, 1);
    advance(2 * MINUTE_MS);
    // As after a claim whose reply got lost: both believe that they have it.
    const believing: Records = {
      ...{ read: (keys) => records.read(keys), scan: (request) => records.scan(request) },
      async swap(swaps) {
        const results = await records.swap(swaps);
        const isClaim = swaps[0]?.key.endsWith("/merged");
        return isClaim ? [{ swapped: true, version: 1 }] : results;
      },
    };
    await Promise.all([merge(), merge(believing), merge(believing)]);
    expect(await total(HOUR_MS)).toBe(20);
    expect(await scanAll(records, LIVE)).toEqual([]);
  });
});
