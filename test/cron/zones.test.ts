/** What core/cron-zone.ts takes for granted about the zone data that comes with this Node. */
import { describe, expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { DAY_MS, wallTime } from "./wall-clock.ts";

/** A page of time has at most one change of clocks. */
const PAGE_MS = 4 * DAY_MS;

describe("zone data", () => {
  it("has no zone that changes its clocks twice within four days", (context) => {
    onlyInFull(context);
    const near: string[] = [];
    for (const timeZone of Intl.supportedValuesOf("timeZone")) {
      let offset = wallTime(timeZone, 0);
      let changedAt = -Infinity;
      for (let at = 0; at < Date.UTC(2040, 0, 1); at += DAY_MS / 2) {
        const now = wallTime(timeZone, at) - at;
        if (now === offset) continue;
        // Each of the two may be half a day older than its first sight.
        if (at - changedAt <= PAGE_MS + DAY_MS / 2)
          near.push(`${timeZone} ${new Date(at).toJSON()}`);
        offset = now;
        changedAt = at;
      }
    }
    expect(near).toEqual([]);
  }, 900_000);
});
