import { expect, it } from "vitest";
import type { Params } from "../../api/simulations.ts";
import { activityFields, changedKnobs, parseSpan, spanText, winRateFields } from "./knobs.ts";

const each = <Value>(value: Value) => ({ note: value, call: value, task: value, ticket: value });
const params: Params = {
  ...{ winRate: 0.25, probabilities: each(0.5), caps: each(2), budgets: each(null) },
  delaysMs: each([60_000, 3_600_000] as const),
};
const asIs = (fields: ReturnType<typeof activityFields>) =>
  Object.fromEntries(fields.map(({ name, value = "" }) => [name, value]));

it("a span of times is read as it is written", () => {
  expect(spanText([60_000, 3_600_000])).toBe("1 min to 1 h");
  expect(parseSpan("1 min to 1 h")).toEqual([60_000, 3_600_000]);
  expect(parseSpan("30 s")).toEqual([30_000, 30_000]);
  for (const wrong of ["2 h to 1 min", "soon", "1 s to 2 s to 3 s", ""]) {
    expect(parseSpan(wrong)).toBeNull();
  }
});

it("a form that was not changed says nothing", () => {
  const fields = activityFields(params, "call");
  expect(changedKnobs(fields, asIs(fields), "call")).toBeNull();
});

it("only what was changed is said, for its type alone", () => {
  const fields = activityFields(params, "call");
  const filled = { ...asIs(fields), budgets: "5", delaysMs: "2 min to 3 min" };
  expect(changedKnobs(fields, filled, "call")).toEqual({
    ...{ budgets: { call: 5 }, delaysMs: { call: [120_000, 180_000] } },
  });
  expect(changedKnobs(winRateFields(params), { winRate: "0.9" }, null)).toEqual({ winRate: 0.9 });
});

it("an empty budget is one without a bound", () => {
  const bounded = { ...params, budgets: each(7) };
  const fields = activityFields(bounded, "note");
  expect(changedKnobs(fields, { ...asIs(fields), budgets: "" }, "note")).toEqual({
    budgets: { note: null },
  });
});

it("shares outside of 0 to 1 are refused by the form", () => {
  const check = winRateFields(params)[0]?.check;
  for (const fits of ["0", "1", "0.25", ".5", "1.0"]) expect(check?.(fits)).toBeNull();
  for (const wrong of ["1.1", "-1", "25 %", "1e3"]) expect(check?.(wrong)).not.toBeNull();
});
