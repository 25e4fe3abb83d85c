import { expect, it } from "vitest";
import type { SeenLease } from "./orders.ts";
import { contradictions, mostAtOnce } from "./seen-leases.ts";

function lease(from: number, until: number, more: Partial<SeenLease> = {}): SeenLease {
  return { id: "job-1", group: "", fence: from, worker: `worker-${from}`, from, until, ...more };
}

it("two leases of one job that overlap are a contradiction", () => {
  expect(contradictions([lease(5, 8), lease(1, 6)])).toEqual([
    "leased twice at once: job-1: worker-1 (1) and worker-5 (5)",
  ]);
});

it("a lease that was never given back overlaps with every later one", () => {
  expect(contradictions([lease(1, Infinity), lease(5, 8)])).toHaveLength(1);
});

it("leases of one job after each other, and of two jobs at once, are none", () => {
  const other = lease(2, 7, { id: "job-2" });
  expect(contradictions([lease(1, 5), lease(5, 8), other])).toEqual([]);
});

it("a fence that does not grow from lease to lease is a contradiction", () => {
  expect(contradictions([lease(1, 5), lease(6, 8, { fence: 1 })])).toEqual([
    "the fence does not grow: job-1: worker-1 (1) and worker-6 (1)",
  ]);
});

it("as many leases are held at once as overlap at one instant", () => {
  expect(mostAtOnce([])).toBe(0);
  expect(mostAtOnce([lease(1, 3), lease(3, 5)])).toBe(1);
  expect(mostAtOnce([lease(1, 4), lease(3, 6), lease(5, 9), lease(2, 8)])).toBe(3);
});
