import { describe, expect, it } from "vitest";
import { Stretch } from "../../bench/stretch.ts";

describe("a stretch of a drain", () => {
  it("begins after the jobs it skips and ends with those it counts, however they are told", async () => {
    const stretch = new Stretch({ skip: 100, count: 100, mostMs: 60_000 });
    let isDone = false;
    const done = stretch.done.then(() => (isDone = true));
    for (const jobs of [50, 50, 50, 50]) stretch.jobsStarted(jobs);
    await Promise.resolve();
    expect(isDone).toBe(false);
    stretch.jobsStarted(50);
    await done;
    expect(stretch.isCut).toBe(false);
  });

  it("that takes too long is cut off, and measured by the jobs that did start", async () => {
    const stretch = new Stretch({ skip: 100, count: 1_000, mostMs: 1 });
    stretch.jobsStarted(3);
    const { jobsPerSecond } = await stretch.done;
    expect(stretch.isCut).toBe(true);
    expect(jobsPerSecond).toBeGreaterThan(0);
    expect(jobsPerSecond).toBeLessThan(Infinity);
  });

  it("in which nothing starts has a rate of 0", async () => {
    const { jobsPerSecond } = await new Stretch({ skip: 1, count: 1, mostMs: 1 }).done;
    expect(jobsPerSecond).toBe(0);
  });
});
