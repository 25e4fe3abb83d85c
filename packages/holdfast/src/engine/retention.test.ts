import { describe, expect, it } from "vitest";
import { InvalidNameError, InvalidOptionError } from "../core/errors.ts";
import { Retention } from "./retention.ts";

const DAY_MS = 86_400_000;

describe("Retention", () => {
  it("keeps succeeded jobs 30 days and the others 14 unless told otherwise", () => {
    expect(new Retention().policies).toEqual([
      { queue: null, status: "succeeded", olderThanMs: 30 * DAY_MS, keep: null },
      { queue: null, status: "dead", olderThanMs: 14 * DAY_MS, keep: null },
      { queue: null, status: "cancelled", olderThanMs: 14 * DAY_MS, keep: null },
    ]);
    expect(new Retention().discards("any", "succeeded")).toBe(false);
  });

  it("keeps for ever what is null", () => {
    const { policies } = new Retention({ dead: null });
    expect(policies[1]).toMatchObject({ status: "dead", olderThanMs: null, keep: null });
  });

  it("discards at once what is kept for no time or in no number", () => {
    const retention = new Retention({
      succeeded: { maxAgeMs: 0 },
      queues: { audit: { succeeded: { maxAgeMs: DAY_MS } }, noise: { dead: { maxCount: 0 } } },
    });
    expect(retention.discards("any", "succeeded")).toBe(true);
    expect(retention.discards("audit", "succeeded")).toBe(false);
    expect(retention.discards("noise", "succeeded")).toBe(true);
    expect(retention.discards("noise", "dead")).toBe(true);
    expect(retention.discards("any", "dead")).toBe(false);
  });

  it("refuses bounds that are none", () => {
    expect(() => new Retention({ dead: { maxAgeMs: -1 } })).toThrow(InvalidOptionError);
    expect(() => new Retention({ dead: { maxCount: 1.5 } })).toThrow(InvalidOptionError);
    expect(() => new Retention({ queues: { "no spaces": {} } })).toThrow(InvalidNameError);
  });
});
