import { describe, expect, it } from "vitest";
import { LATE_MS, newSchedule, type ScheduleDefinition } from "../../core/schedule.ts";
import { DueIndex } from "./due-index.ts";

describe("when the processes of a fleet want a schedule", () => {
  it("each looks long before a tick is too late, whoever is gone since it drew its place", () => {
    const fleet = Array.from({ length: 20 }, (_, n) => `process ${n}`);
    const definition = {
      rule: { everyMs: 600_000, startAfterMs: 600_000 },
    } as unknown as ScheduleDefinition;
    for (const process of fleet) {
      const index = new DueIndex(process, () => fleet);
      const about = { origin: "code", appVersion: null, now: 0 } as const;
      const states = Array.from({ length: 50 }, (_, n) =>
        newSchedule(`schedule ${n}`, definition, about),
      );
      for (const state of states) index.note(state);
      const due = Math.max(...states.map(({ nextAt }) => nextAt ?? 0));
      expect(index.dueBy(due + LATE_MS / 2)).toHaveLength(50);
    }
  });
});
