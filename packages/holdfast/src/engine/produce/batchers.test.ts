import { describe, expect, it } from "vitest";
import { Batchers } from "./batchers.ts";

interface Item {
  readonly queue: string;
  readonly n: number;
}

/** Calls end when the test says so. */
function batchers({ hasSeveralServers = true } = {}) {
  const calls: { readonly items: readonly Item[]; end(error?: Error): void }[] = [];
  const made = new Batchers<Item, number>({
    hasSeveralServers: () => hasSeveralServers,
    queueOf: ({ queue }) => queue,
    run: (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<number[]>();
      const end = (error?: Error) => (error ? reject(error) : resolve(items.map(({ n }) => n)));
      calls.push({ items, end });
      return promise;
    },
    defer: (callback) => void setImmediate(callback),
    ...{ maxItems: 10, maxBytes: 100, bytesOf: () => 1, isolate: () => false },
  });
  return { made, calls };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const [HERE, FAR] = ["here", "far"];

describe("Batchers", () => {
  it("let what belongs to one server wait for nothing that belongs to another", async () => {
    const { made, calls } = batchers();
    const far = made.add({ queue: FAR, n: 1 });
    const here = made.add({ queue: HERE, n: 2 });
    const behind = made.add({ queue: FAR, n: 3 });
    await turn();
    expect(calls.map(({ items }) => items.map(({ n }) => n))).toEqual([[1, 3], [2]]);
    calls[1]!.end();
    expect(await here).toBe(2);
    const again = made.add({ queue: HERE, n: 4 });
    await turn();
    calls[2]!.end();
    expect(await again).toBe(4);
    expect(made.isIdle).toBe(false);
    calls[0]!.end(new Error("no answer"));
    await expect(far).rejects.toThrow("no answer");
    await expect(behind).rejects.toThrow("no answer");
    await made.idle();
    expect([made.isIdle, made.size]).toEqual([true, 0]);
  });

  it("count what waits for any of them", async () => {
    const { made, calls } = batchers();
    const all = [made.add({ queue: FAR, n: 1 }), made.add({ queue: HERE, n: 2 })];
    await turn();
    all.push(made.add({ queue: FAR, n: 3 }), made.add({ queue: HERE, n: 4 }));
    expect(made.size).toBe(2);
    const idle = made.idle();
    for (let at = 0; at < 4; at += 1) {
      await turn();
      calls[at]?.end();
    }
    await turn();
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
    await idle;
  });

  it("are one where everything lies on one server", async () => {
    const { made, calls } = batchers({ hasSeveralServers: false });
    const both = [made.add({ queue: FAR, n: 1 }), made.add({ queue: HERE, n: 2 })];
    await turn();
    expect(calls).toHaveLength(1);
    calls[0]!.end();
    expect(await Promise.all(both)).toEqual([1, 2]);
  });
});
