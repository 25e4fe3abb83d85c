import { expect, it } from "vitest";
import { amount, whole } from "./fields.ts";

const DIGITS = "1".repeat(30_000);

it("an amount is a number, or a text that is one", () => {
  const texts = ["7", "7.", ".5", "-12.50", "+1e3", "1.5E-2", " 7", "1.2.3", "1,5", "e3", ""];
  const read = texts.map((text) => amount().read(text));
  const none = { problem: "is no number" };
  expect(read).toEqual([
    ...[7, 7, 0.5, -12.5, 1_000, 0.015].map((value) => ({ value })),
    ...[none, none, none, none, none],
  ]);
  expect(whole(1, 9).read("7.0")).toEqual({ value: 7 });
});

/** With a step for each pair of digits this would take minutes, in which a worker does nothing else. */
it("cells of many digits that are no number are told in no time", () => {
  for (let cells = 0; cells < 300; cells += 1) {
    expect(amount().read(`${DIGITS}x`)).toEqual({ problem: "is no number" });
  }
});
