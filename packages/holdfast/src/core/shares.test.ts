import { describe, expect, it } from "vitest";
import { Shares, type Demand } from "./shares.ts";

function demand(name: string, more: Partial<Demand> = {}): Demand {
  return { name, limit: 100, weight: 1, ...more };
}

interface Course {
  readonly limit: number;
  readonly calls?: number;
  /** How many jobs a queue has; as many as one likes if it is not named. */
  readonly stock?: Readonly<Record<string, number>>;
  readonly shares?: Shares;
}

/** Who got how many in so many calls. */
function share(demands: readonly Demand[], course: Course): Record<string, number> {
  const { limit, calls = 1, stock = {}, shares = new Shares() } = course;
  const got = Object.fromEntries(demands.map(({ name }) => [name, 0]));
  for (let call = 0; call < calls; call++) {
    shares.shareOut(demands, limit, ({ name }, atMost) => {
      const taken = Math.min(atMost, (stock[name] ?? Infinity) - (got[name] ?? 0));
      got[name] = (got[name] ?? 0) + taken;
      return taken;
    });
  }
  return got;
}

describe("shares between queues", () => {
  it("are alike", () => {
    expect(share([demand("a"), demand("b"), demand("c")], { limit: 9 })).toEqual({
      ...{ a: 3, b: 3, c: 3 },
    });
  });

  it("follow the weights, also one job at a time", () => {
    const demands = [demand("a", { weight: 3 }), demand("b")];
    expect(share(demands, { limit: 1, calls: 40 })).toEqual({ a: 30, b: 10 });
    expect(share(demands, { limit: 8, calls: 5 })).toEqual({ a: 30, b: 10 });
  });

  it("come out even over many calls of one job each", () => {
    const demands = ["a", "b", "c"].map((name) => demand(name));
    expect(share(demands, { limit: 1, calls: 30 })).toEqual({ a: 10, b: 10, c: 10 });
  });

  it("flow on from a queue that cannot fill its own", () => {
    const demands = ["a", "b", "c"].map((name) => demand(name));
    expect(share(demands, { limit: 30, stock: { a: 2 } })).toEqual({ a: 2, b: 14, c: 14 });
    const heavy = [demand("empty", { weight: 9 }), demand("full")];
    expect(share(heavy, { limit: 10, stock: { empty: 0 } })).toEqual({ empty: 0, full: 10 });
  });

  it("never exceed a queue's own limit or the call's, and flow on past them", () => {
    const demands = [demand("a", { limit: 2 }), demand("b", { limit: 3 })];
    expect(share(demands, { limit: 50 })).toEqual({ a: 2, b: 3 });
    expect(share([demand("a", { limit: 2 })], { limit: 50 })).toEqual({ a: 2 });
    expect(share([demand("a", { limit: 1 }), demand("b")], { limit: 10 })).toEqual({ a: 1, b: 9 });
  });

  it("are not saved up by a queue that was empty", () => {
    const shares = new Shares();
    const demands = [demand("a"), demand("b")];
    share(demands, { shares, limit: 10, calls: 50, stock: { a: 0 } });
    const { a = 0 } = share(demands, { shares, limit: 10, calls: 4 });
    expect(Math.abs(a - 20)).toBeLessThanOrEqual(2);
  });

  it("end when every queue is empty", () => {
    const demands = [demand("a"), demand("b")];
    expect(share(demands, { limit: 9, stock: { a: 1, b: 0 } })).toEqual({ a: 1, b: 0 });
  });

  it("starve nobody, however little it weighs", () => {
    const demands = [demand("heavy", { weight: 1_000 }), demand("light")];
    expect(share(demands, { limit: 1, calls: 2_002 })["light"]).toBeGreaterThan(0);
  });

  it("of a weight that makes no sense count as 1", () => {
    const demands = [demand("a", { weight: 0 }), demand("b", { weight: -4 })];
    expect(share(demands, { limit: 6 })).toEqual({ a: 3, b: 3 });
  });
});

describe("a split", () => {
  it("always adds up", () => {
    const claimants = [5, 1, 2].map((weight, index) => ({ name: `q${index}`, weight }));
    for (const jobs of [0, 1, 2, 7, 100]) {
      const parts = new Shares().split(claimants, jobs);
      expect(parts.reduce((sum, part) => sum + part)).toBe(jobs);
    }
  });

  it("gives nothing later to who could not fill his part", () => {
    const shares = new Shares();
    const [first, second] = [demand("a"), demand("b")];
    for (let call = 0; call < 10; call++) {
      shares.split([first, second], 1);
      shares.unfilled(first);
    }
    expect(shares.split([first, second], 10)).toEqual([5, 5]);
  });
});
