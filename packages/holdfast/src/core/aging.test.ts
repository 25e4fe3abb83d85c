import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agingSteps, changedAging, givenPriority, placedJob, type Aging } from "./aging.ts";
import { expiryOf, ownMeta } from "./expiry.ts";
import { MAX_PLACE } from "./job.ts";
import { newJob } from "../testing/conformance/new-job.ts";

describe("aging", () => {
  it("counts a step for every length of waiting, and none before it began", () => {
    const aging: Aging = { everyMs: 1_000, steps: 7, since: 50_000 };
    expect([0, 50_000, 50_999, 51_000, 60_500].map((now) => agingSteps(aging, now))).toEqual([
      ...[7, 7, 7, 8, 17],
    ]);
  });

  it("never goes back, however it is changed", () => {
    const change = fc.record({ everyMs: fc.option(fc.nat(5_000)), afterMs: fc.nat(100_000) });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        let [aging, now, last]: [Aging | null, number, number] = [null, 1_000_000, 0];
        for (const { everyMs, afterMs } of changes) {
          aging = changedAging(aging, everyMs === null ? null : everyMs + 1, now);
          const steps = aging ? agingSteps(aging, now) : 0;
          expect(steps).toBe(last);
          now += afterMs;
          last = aging ? agingSteps(aging, now) : 0;
          expect(last).toBeGreaterThanOrEqual(steps);
        }
      }),
    );
  });

  it("a placed job still says what its caller gave, and is placed once", () => {
    const meta = JSON.stringify({ source: "web", holdfast: { expiresAt: 5 } });
    const job = newJob({ priority: 13, meta });
    const placed = placedJob(job, 1_000);
    expect(placed.priority).toBe(1_013);
    expect(givenPriority(placed)).toBe(13);
    expect(ownMeta(placed.meta)).toEqual({ source: "web" });
    expect(expiryOf({ ...placed, createdAt: 0 })).toBe(5);
    expect(placedJob(placed, 2_000)).toBe(placed);
    expect(placedJob(job, 0)).toBe(job);
    expect(placedJob(job, MAX_PLACE).priority).toBe(MAX_PLACE);
    expect(ownMeta(placedJob(newJob(), 5).meta)).toBeNull();
  });
});
