import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { Shares, type Demand } from "./shares.ts";

function demand(name: string, more: Partial<Demand<string>> = {}): Demand<string> {
  return { name, queue: name, limit: 100, weight: 1, ...more };
}

/** So many calls; every queue has `stock` jobs, or as many as one likes. */
async function share(
  demands: Demand<string>[],
  {
    limit,
    calls = 1,
    stock = {},
  }: { limit: number; calls?: number; stock?: Record<string, number> },
): Promise<Record<string, number>> {
  const shares = new Shares();
  const taken: Record<string, number> = {};
  for (let call = 0; call < calls; call++) {
    await shares.shareOut(demands, limit, async (queue, atMost) => {
      const jobs = Math.min(atMost, (stock[queue] ?? Infinity) - (taken[queue] ?? 0));
      taken[queue] = (taken[queue] ?? 0) + jobs;
      return jobs;
    });
  }
  return taken;
}

describe("shares of queues", () => {
  it("are alike", async () => {
    const taken = await share([demand("a"), demand("b"), demand("c")], { limit: 9 });
    assert.deepEqual(taken, { a: 3, b: 3, c: 3 });
  });

  it("follow the weights, also one job at a time", async () => {
    const demands = [demand("a", { weight: 3 }), demand("b")];
    assert.deepEqual(await share(demands, { limit: 1, calls: 40 }), { a: 30, b: 10 });
    assert.deepEqual(await share(demands, { limit: 8, calls: 5 }), { a: 30, b: 10 });
  });

  it("that one cannot fill go to the others", async () => {
    const demands = [demand("empty", { weight: 9 }), demand("full")];
    assert.deepEqual(await share(demands, { limit: 10, stock: { empty: 0 } }), {
      empty: 0,
      full: 10,
    });
  });

  it("never exceed a queue's own limit or the call's", async () => {
    const demands = [demand("a", { limit: 2 }), demand("b", { limit: 3 })];
    assert.deepEqual(await share(demands, { limit: 50 }), { a: 2, b: 3 });
    assert.deepEqual(await share([demand("a", { limit: 2 })], { limit: 50 }), { a: 2 });
  });

  it("save nothing up for a queue that was empty", async () => {
    const shares = new Shares();
    const demands = [demand("a"), demand("b")];
    for (let call = 0; call < 20; call++) {
      await shares.shareOut(demands, 1, async (queue) => (queue === "a" ? 0 : 1));
    }
    const first: string[] = [];
    for (let call = 0; call < 4; call++) {
      await shares.shareOut(demands, 1, async (queue, atMost) => {
        if (atMost > 0) first.push(queue);
        return atMost;
      });
    }
    assert.equal(first.filter((queue) => queue === "a").length, 2);
  });

  it("of a weight that makes no sense count as 1", async () => {
    const demands = [demand("a", { weight: 0 }), demand("b", { weight: -4 })];
    assert.deepEqual(await share(demands, { limit: 6 }), { a: 3, b: 3 });
  });
});
