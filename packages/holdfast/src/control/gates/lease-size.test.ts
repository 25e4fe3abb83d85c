import { expect, it } from "vitest";
import { LeaseSize } from "./lease-size.ts";

it("leases get smaller while jobs come back, and grow again when none does", () => {
  const size = new LeaseSize();
  const lease = (handedBack: (taken: number) => number) => {
    const taken = size.next(50);
    size.leased(taken);
    for (let count = 0; count < handedBack(taken); count += 1) size.handedBack();
    return taken;
  };
  const allButOne = (taken: number) => taken - 1;
  expect([1, 2, 3, 4, 5].map(() => lease(allButOne))).toEqual([50, 14, 5, 3, 2]);
  expect([1, 2, 3, 4, 5, 6].map(() => lease(() => 0))).toEqual([2, 4, 8, 16, 32, 50]);
});
