import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../core/errors.ts";
import type { Records, Swap } from "../core/records.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { gatheredRecords } from "./gathered-records.ts";

const swapOf = (key: string): Swap => ({ key, expect: null, value: key, ttlMs: null });

/** Records that count their calls; the first so many of them fail. */
async function counted(failures = 0) {
  const store = memoryStore();
  await store.open();
  const calls: string[] = [];
  const about = async <Out>(verb: string, items: readonly unknown[], call: () => Promise<Out>) => {
    calls.push(`${verb} ${items.length}`);
    if (calls.length <= failures) {
      throw new StoreUnavailableError("away", { mayHaveHappened: true });
    }
    return call();
  };
  const inner: Records = {
    read: (keys) => about("read", keys, () => store.records.read(keys)),
    swap: (swaps) => about("swap", swaps, () => store.records.swap(swaps)),
    scan: (request) => store.records.scan(request),
  };
  return { records: gatheredRecords(inner), calls };
}

describe("gathered records", () => {
  it("bring many single changes of one moment to the store in few calls, each answered by itself", async () => {
    const { records, calls } = await counted();
    const keys = Array.from({ length: 150 }, (_, at) => `key-${at}`);
    const written = await Promise.all([...keys, "key-7"].map((key) => records.swap([swapOf(key)])));
    expect(written.filter(([one]) => one?.swapped)).toHaveLength(150);
    expect(written.at(-1)).toMatchObject([{ swapped: false, current: { value: "key-7" } }]);
    const read = await Promise.all(keys.map((key) => records.read([key])));
    expect(read.map(([one]) => one?.value)).toEqual(keys);
    expect(calls.length).toBeLessThanOrEqual(8);
  });

  it("leave a call of several as it is", async () => {
    const { records, calls } = await counted();
    await records.swap([swapOf("a"), swapOf("b")]);
    await records.read(["b", "a", "none"]);
    expect(await records.read([])).toEqual([]);
    expect(calls).toEqual(["swap 2", "read 3", "read 0"]);
  });

  it("tell each caller of a call that the store is away, and go on when it is back", async () => {
    const { records, calls } = await counted(3);
    const all = ["a", "b", "c", "d"].map((key) => records.swap([swapOf(key)]));
    const ends = await Promise.allSettled(all);
    expect(ends.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    expect(calls).toEqual(["swap 1", "swap 1", "swap 2"]);
    expect(await records.swap([swapOf("a")])).toMatchObject([{ swapped: true }]);
  });
});
