import { describe, expect, it } from "vitest";
import { checkEnqueueOptions, itemOptions, type EnqueueOptions } from "./enqueue-options.ts";
import { InvalidNameError, InvalidOptionError } from "./errors.ts";

const TEN_YEARS = 10 * 365 * 86_400_000;
const check = (options: Record<string, unknown>) => checkEnqueueOptions(options as EnqueueOptions);

describe("checkEnqueueOptions", () => {
  it("takes nothing, everything, and options that are undefined", () => {
    expect(() => check({})).not.toThrow();
    expect(() =>
      check({
        priority: 10,
        delayMs: 5000,
        idempotencyKey: "welcome:b@example.com",
        idempotencyTtlMs: 86_400_000,
        onDuplicate: "return",
        onConflict: "throw",
        maxAttempts: 3,
        group: "tenant-7",
        queue: "mail",
        tags: ["a"],
        meta: { a: 1 },
        trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      }),
    ).not.toThrow();
    expect(() =>
      check({ priority: undefined, delayMs: undefined, runAt: new Date(), tags: undefined }),
    ).not.toThrow();
  });

  const limits: [string, unknown[], unknown[]][] = [
    ["priority", [0, 1, 8190, 8191], [-1, 8192, 1.5, NaN, "5", null]],
    ["delayMs", [0, 1, TEN_YEARS], [-1, TEN_YEARS + 1, 0.5, NaN, Infinity, "5", null]],
    [
      "runAt",
      [new Date(0), new Date(), new Date(253_402_300_799_999)],
      [new Date(NaN), new Date(-1), new Date(253_402_300_800_000), 5, "2030-01-01", null],
    ],
    ["maxAttempts", [1, 2, 1000], [0, 1001, -1, 1.5, NaN, "5"]],
    [
      "idempotencyTtlMs",
      [1, TEN_YEARS, "until-finished"],
      [0, -1, TEN_YEARS + 1, 1.5, NaN, "kept", null],
    ],
    ["dedupe", ["payload"], ["key", true, null]],
    ["onDuplicate", ["return", "throw"], ["ignore", true, null]],
    ["onConflict", ["return", "throw"], ["ignore", 1, null]],
    ["meta", [{}, { a: 1 }], [[], "x", 5, null]],
    ["trace", ["x", "x".repeat(1024)], ["", "x".repeat(1025), "a\nb", "\ud800", 5, null]],
  ];

  it.each(limits)("%s: takes its limits, refuses what is beyond", (name, good, bad) => {
    for (const value of good) expect(() => check({ [name]: value }), String(value)).not.toThrow();
    for (const value of bad) {
      expect(() => check({ [name]: value }), String(value)).toThrow(InvalidOptionError);
      expect(() => check({ [name]: value }), String(value)).toThrow(name);
    }
  });

  it("checks names, keys and tags", () => {
    for (const options of [
      { queue: "a b" },
      { group: "" },
      { idempotencyKey: "" },
      { tags: "a" },
      { tags: [""] },
    ]) {
      expect(() => check(options)).toThrow(InvalidNameError);
    }
  });

  it("refuses two answers to one question", () => {
    expect(() => check({ delayMs: 1, runAt: new Date() })).toThrow(/delayMs or runAt, not both/);
    expect(() => check({ idempotencyKey: "k", dedupe: "payload" })).toThrow(
      /idempotencyKey or dedupe, not both/,
    );
  });

  it("names the option that was meant", () => {
    const meant = {
      delay: "delayMs",
      groupKey: "group",
      attempts: "maxAttempts",
      prio: "priority",
      idempotencykey: "idempotencyKey",
    };
    for (const [typed, nearest] of Object.entries(meant)) {
      expect(() => check({ [typed]: 1 })).toThrow(
        `enqueue has no option "${typed}": did you mean "${nearest}"?`,
      );
    }
  });

  it("refuses what is no object", () => {
    for (const options of [null, 5, "x", []]) {
      expect(() => checkEnqueueOptions(options as EnqueueOptions)).toThrow(InvalidOptionError);
    }
  });
});

it("itemOptions leaves what is no option behind", () => {
  expect(itemOptions({ type: "a", payload: {}, contract: {}, priority: 3, typo: 1 })).toEqual({
    priority: 3,
    typo: 1,
  });
});
