import { describe, expect, it } from "vitest";
import {
  CLAIM_MS,
  claimed,
  dueAt,
  enabled,
  marked,
  newSchedule,
  redefined,
  type ScheduleDefinition,
  type ScheduledJob,
} from "./schedule.ts";
import { dueTicks, MOST_CAUGHT_UP, ticksAfter, TICKS_COUNTED_TO } from "./schedule-rule.ts";

const NOW = Date.UTC(2030, 0, 1, 12);
const job: ScheduledJob = {
  ...{ queue: "default", group: "", type: "work", payload: "null", priority: 100, delayMs: 0 },
  ...{ maxAttempts: 5, tags: [], meta: null, trace: null },
};
const every: ScheduleDefinition = {
  ...{ rule: { everyMs: 10_000, startAfterMs: 5_000 }, job, overlap: "skip", missed: "once" },
};
const about = { origin: "code", appVersion: null, now: NOW } as const;
const by = (process: string, now: number) => ({
  ...{ by: process, now, isBusy: false, idOf: (tick: number) => `job ${tick}` },
});

describe("due ticks", () => {
  it("of an interval are counted without walking, and the latest hundred are named", () => {
    const rule = { everyMs: 1_000, startAfterMs: 0 };
    const { ticks, count } = dueTicks(rule, { from: NOW, until: NOW + 30 * 86_400_000 });
    expect(count).toBe(30 * 86_400 + 1);
    expect(ticks).toHaveLength(MOST_CAUGHT_UP);
    expect(ticks.at(-1)).toBe(NOW + 30 * 86_400_000);
    expect(dueTicks(rule, { from: NOW, until: NOW - 1 })).toEqual({ ticks: [], count: 0 });
  });

  it("of an expression a second are the latest hundred, found from the end", () => {
    const rule = { cron: "* * * * * *", timeZone: "Europe/Berlin" };
    const { ticks, count } = dueTicks(rule, { from: NOW, until: NOW + 30 * 86_400_000 });
    expect(count).toBe(TICKS_COUNTED_TO);
    expect(ticks).toEqual(
      Array.from({ length: 100 }, (_, at) => NOW + 30 * 86_400_000 - (99 - at) * 1_000),
    );
  });

  it("are the ones that a page shows ahead", () => {
    const rule = { cron: "0 9 * * 1", timeZone: "Europe/Berlin" };
    const [first, second] = ticksAfter(rule, { anchor: 0, after: NOW, count: 2 });
    expect(new Date(first!).toISOString()).toBe("2030-01-07T08:00:00.000Z");
    expect(second! - first!).toBe(7 * 86_400_000);
  });
});

describe("a schedule's record", () => {
  it("is claimed by one process, and left alone by the others for ten seconds", () => {
    const state = newSchedule("each", every, about);
    expect(claimed(state, by("a", NOW + 4_999))).toBeNull();
    const claim = claimed(state, by("a", NOW + 5_000))!;
    expect(claim.claim?.ticks).toEqual([
      { at: NOW + 5_000, state: "fired", jobId: `job ${NOW + 5_000}` },
    ]);
    expect(claim.nextAt).toBe(NOW + 15_000);
    expect(dueAt(claim, "b")).toBe(NOW + 5_000 + CLAIM_MS);
    expect(claimed(claim, by("b", NOW + 5_000 + CLAIM_MS - 1))).toBeNull();
    // Taken over as it is: the same ticks, the same ids.
    const taken = claimed(claim, by("b", NOW + 5_000 + CLAIM_MS))!;
    expect(taken.claim).toMatchObject({ by: "b", ticks: claim.claim!.ticks });
    expect(marked(taken, taken.claim!.ticks)).toMatchObject({
      ...{ claim: null, fired: 1, lastJob: { id: `job ${NOW + 5_000}`, queue: "default" } },
    });
  });

  it("counts what was missed too often to be named", () => {
    const state = newSchedule("each", every, about);
    const claim = claimed(state, by("a", NOW + 10_000_000))!;
    expect(claim.claim).toMatchObject({ uncounted: 900 });
    expect(marked(claim, claim.claim!.ticks)).toMatchObject({ fired: 1, missed: 999 });
  });

  it("with another rule begins anew, and keeps what it claimed as it was", () => {
    const state = claimed(newSchedule("each", every, about), by("a", NOW + 5_000))!;
    const other = { ...every, job: { ...job, queue: "other" } };
    const same = redefined(state, other, { ...about, now: NOW + 6_000 });
    expect(same.nextAt).toBe(state.nextAt);
    expect(same.claim?.job?.queue).toBe("default");
    expect(marked(same, same.claim!.ticks).lastJob?.queue).toBe("default");
    const rule = { everyMs: 60_000, startAfterMs: 60_000 };
    const changed = redefined(state, { ...other, rule }, { ...about, now: NOW + 6_000 });
    expect(changed).toMatchObject({ nextAt: NOW + 66_000, anchor: NOW + 66_000 });
  });

  it("misses nothing of the time in which it was not wanted", () => {
    const paused = {
      ...newSchedule("each", every, about),
      paused: { at: NOW, by: null, reason: null },
    };
    expect(dueAt(paused, "a")).toBeNull();
    expect(claimed(paused, by("a", NOW + 60_000))).toBeNull();
    expect(enabled(paused, NOW + 60_000)).toMatchObject({ paused: null, nextAt: NOW + 65_000 });
  });
});
