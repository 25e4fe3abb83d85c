import { describe, expect, it } from "vitest";
import { shareOut, type Claimant } from "./shares.ts";

interface Queue extends Claimant {
  readonly name: string;
  /** How many jobs it still has. */
  jobs: number;
}

function queueOf(name: string, jobs = Infinity): Queue {
  return { name, jobs, credit: 0 };
}

/** Shares out so many, the same way several times; answers who got how many. */
function calls(
  queues: readonly { queue: Queue; limit?: number; weight?: number }[],
  { limit, times = 1 }: { readonly limit: number; readonly times?: number },
): Record<string, number> {
  const got: Record<string, number> = Object.fromEntries(queues.map((q) => [q.queue.name, 0]));
  const demands = queues.map(({ queue, limit: own = Infinity, weight = 1 }) => ({
    queue,
    limit: own,
    weight,
  }));
  for (let time = 0; time < times; time++) {
    shareOut(demands, limit, (queue, atMost) => {
      const taken = Math.min(queue.jobs, atMost);
      queue.jobs -= taken;
      got[queue.name] = (got[queue.name] ?? 0) + taken;
      return taken;
    });
  }
  return got;
}

describe("shares between queues", () => {
  it("split one call by weight", () => {
    const [a, b] = [queueOf("a"), queueOf("b")];
    expect(calls([{ queue: a, weight: 3 }, { queue: b }], { limit: 12 })).toEqual({ a: 9, b: 3 });
  });

  it("come out even over many calls of one job each", () => {
    const queues = ["a", "b", "c"].map((name) => ({ queue: queueOf(name) }));
    expect(calls(queues, { limit: 1, times: 30 })).toEqual({ a: 10, b: 10, c: 10 });
  });

  it("keep to the weights over many calls of one job each", () => {
    const queues = [{ queue: queueOf("a"), weight: 3 }, { queue: queueOf("b") }];
    expect(calls(queues, { limit: 1, times: 40 })).toEqual({ a: 30, b: 10 });
  });

  it("flow on from a queue that cannot fill its own", () => {
    const queues = [{ queue: queueOf("a", 2) }, { queue: queueOf("b") }, { queue: queueOf("c") }];
    expect(calls(queues, { limit: 30 })).toEqual({ a: 2, b: 14, c: 14 });
  });

  it("flow on past a queue's own limit", () => {
    const queues = [{ queue: queueOf("a"), limit: 1 }, { queue: queueOf("b") }];
    expect(calls(queues, { limit: 10 })).toEqual({ a: 1, b: 9 });
  });

  it("are not saved up by a queue that was empty", () => {
    const [a, b] = [queueOf("a", 0), queueOf("b")];
    calls([{ queue: a }, { queue: b }], { limit: 10, times: 50 });
    a.jobs = Infinity;
    const { a: late = 0 } = calls([{ queue: a }, { queue: b }], { limit: 10, times: 4 });
    expect(Math.abs(late - 20)).toBeLessThanOrEqual(2);
  });

  it("end when every queue is empty", () => {
    expect(calls([{ queue: queueOf("a", 1) }, { queue: queueOf("b", 0) }], { limit: 9 })).toEqual({
      a: 1,
      b: 0,
    });
  });
});
