import { expect, it } from "vitest";
import { leaveOut } from "./leave-out.ts";

const NUMBERS = Array.from({ length: 100 }, (_, number) => number);

function needs(...needed: number[]) {
  return async (items: readonly number[]) => needed.every((number) => items.includes(number));
}

it("only what a failure needs is left, in its order", async () => {
  expect(await leaveOut(NUMBERS, needs(3, 57, 99))).toEqual([3, 57, 99]);
  expect(await leaveOut(NUMBERS, needs(0))).toEqual([0]);
  expect(await leaveOut([7], needs(7))).toEqual([7]);
});

it("what needs everything stays as it is", async () => {
  expect(await leaveOut(NUMBERS, needs(...NUMBERS))).toEqual(NUMBERS);
});

it("a list of a hundred takes a few hundred tries at most", async () => {
  let tries = 0;
  const stillFails = needs(10, 20, 30, 40, 50, 60, 70, 80, 90);
  await leaveOut(NUMBERS, async (items) => {
    tries++;
    return stillFails(items);
  });
  expect(tries).toBeLessThan(300);
});
