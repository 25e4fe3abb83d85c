import { describe, expect, it } from "vitest";
import { seededRandom } from "../../testing/seeded-random.ts";
import { DueTimes } from "./due-times.ts";

describe("due times", () => {
  it("are what a plain table would say, whatever is set, replaced and deleted", () => {
    const random = seededRandom(3);
    const whole = (below: number) => Math.floor(random() * below);
    const times = new DueTimes();
    const table = new Map<string, number>();
    for (let step = 0; step < 20_000; step += 1) {
      const name = `schedule ${whole(60)}`;
      const drawn = random();
      if (drawn < 0.1) {
        times.delete(name);
        table.delete(name);
      } else {
        const at = drawn < 0.15 ? Infinity : whole(1_000);
        times.set(name, at);
        table.set(name, at);
      }
      expect(times.nextAt).toBe(Math.min(...table.values()));
      if (step % 50 !== 0) continue;
      const now = whole(1_000);
      const due = [...table].filter(([, at]) => at <= now);
      expect(times.dueBy(now).sort()).toEqual(due.map(([each]) => each).sort());
    }
    times.clear();
    expect(times.nextAt).toBe(Infinity);
  });
});
