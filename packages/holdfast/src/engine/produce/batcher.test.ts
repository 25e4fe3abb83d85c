import { describe, expect, it } from "vitest";
import { Batcher, type BatcherOptions } from "./batcher.ts";

function batcher(options: Partial<BatcherOptions<number, number>> = {}) {
  const calls: number[][] = [];
  const made = new Batcher<number, number>({
    run: async (items) => {
      calls.push([...items]);
      return items.map((item) => item * 10);
    },
    defer: (callback) => void setImmediate(callback),
    maxItems: 3,
    maxBytes: 100,
    bytesOf: (item) => item,
    isolate: () => true,
    ...options,
  });
  return { batcher: made, calls };
}

describe("Batcher", () => {
  it("sends what was asked for in the same turn in one call", async () => {
    const { batcher: made, calls } = batcher();
    expect(await Promise.all([made.add(1), made.add(2)])).toEqual([10, 20]);
    expect(calls).toEqual([[1, 2]]);
  });

  it("gathers while a call is on its way, and keeps the order", async () => {
    const gates: (() => void)[] = [];
    const calls: number[][] = [];
    const { batcher: made } = batcher({
      run: async (items) => {
        calls.push([...items]);
        await new Promise<void>((resolve) => gates.push(resolve));
        return items;
      },
    });
    const first = made.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    const rest = [made.add(2), made.add(3)];
    gates.shift()!();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    gates.shift()!();
    expect(await Promise.all(rest)).toEqual([2, 3]);
    expect(calls).toEqual([[1], [2, 3]]);
  });

  it("splits by count and by bytes, but never starves a large item", async () => {
    const { batcher: made, calls } = batcher();
    await Promise.all([1, 2, 3, 4, 99, 500, 5].map((item) => made.add(item)));
    expect(calls).toEqual([[1, 2, 3], [4], [99], [500], [5]]);
  });

  it("repeats a failed call item by item, so that only the guilty fails", async () => {
    const repeated: number[] = [];
    const { batcher: made } = batcher({
      run: async (items, isRepeated) => {
        if (isRepeated) repeated.push(...items);
        if (items.includes(2)) throw new Error("two");
        return items;
      },
    });
    const results = await Promise.allSettled([made.add(1), made.add(2), made.add(3)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(repeated).toEqual([1, 2, 3]);
  });

  it("fails them all when no single item can be the cause", async () => {
    const { batcher: made } = batcher({
      isolate: () => false,
      run: async () => {
        throw new Error("away");
      },
    });
    const results = await Promise.allSettled([made.add(1), made.add(2)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await made.idle();
  });

  it("sends a large batch in two halves where two calls may be on their way", async () => {
    const gates: (() => void)[] = [];
    const calls: number[][] = [];
    const { batcher: made } = batcher({
      atOnce: 2,
      maxItems: 100,
      maxBytes: 100_000,
      run: async (items) => {
        calls.push([...items]);
        await new Promise<void>((resolve) => gates.push(resolve));
        return items;
      },
    });
    const open = async (gate: number): Promise<void> => {
      gates[gate]!();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const items = Array.from({ length: 70 }, (_, index) => index);
    const all = items.map((item) => made.add(item));
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toEqual([items.slice(0, 35), items.slice(35)]);
    // While both are on their way the next gather; a few are not worth two calls.
    all.push(made.add(70), made.add(71));
    await open(1);
    expect(calls.slice(2)).toEqual([[70, 71]]);
    await open(0);
    expect(made.isIdle).toBe(false);
    await open(2);
    await made.idle();
    expect(await Promise.all(all)).toEqual([...items, 70, 71]);
  });

  it("is idle once nothing waits or is on its way", async () => {
    const { batcher: made } = batcher();
    await made.idle();
    const adding = made.add(1);
    expect(made.isIdle).toBe(false);
    await made.idle();
    expect(made.isIdle).toBe(true);
    expect(await adding).toBe(10);
  });
});
