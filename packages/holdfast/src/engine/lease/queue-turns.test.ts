import { describe, expect, it } from "vitest";
import { QueueTurns } from "./queue-turns.ts";

const share = (queue: string, weight = 1) => ({ queue, weight });
const jobsOf = (queue: string, count: number) => Array.from({ length: count }, () => ({ queue }));

/** So many calls, each of which takes so many jobs of the first queue that has some. */
function calls(
  count: number,
  {
    shares,
    each,
    has = () => true,
  }: {
    readonly shares: readonly { readonly queue: string; readonly weight: number }[];
    readonly each: number;
    readonly has?: (queue: string, call: number) => boolean;
  },
): Record<string, number> {
  const turns = new QueueTurns();
  const taken: Record<string, number> = {};
  for (let call = 0; call < count; call += 1) {
    const asked = turns.inTurn(shares);
    const first = asked.find(({ queue }) => has(queue, call));
    const jobs = first === undefined ? [] : jobsOf(first.queue, each);
    turns.got(asked, jobs);
    if (first !== undefined) taken[first.queue] = (taken[first.queue] ?? 0) + each;
  }
  return taken;
}

describe("whose turn it is among the queues of a worker", () => {
  it("all have the same", () => {
    const shares = [share("a"), share("b"), share("c")];
    expect(calls(300, { shares, each: 1 })).toEqual({ a: 100, b: 100, c: 100 });
  });

  it("each has as much as it weighs, whatever a call takes", () => {
    const shares = [share("a", 3), share("b")];
    expect(calls(400, { shares, each: 1 })).toEqual({ a: 300, b: 100 });
    expect(calls(400, { shares, each: 50 })).toEqual({ a: 15_000, b: 5_000 });
  });

  it("what an empty queue leaves goes to the others alike", () => {
    const shares = [share("a"), share("b"), share("c")];
    const has = (queue: string) => queue !== "b";
    expect(calls(300, { shares, each: 1, has })).toEqual({ a: 150, c: 150 });
  });

  it("a queue that was empty for long has its turns then, and no more", () => {
    const shares = [share("a"), share("b")];
    const has = (queue: string, call: number) => queue === "a" || call >= 1_000;
    const { a = 0, b = 0 } = calls(1_200, { shares, each: 1, has });
    expect(a + b).toBe(1_200);
    expect(Math.abs(b - 100)).toBeLessThanOrEqual(1);
  });
});
