import { expect, it } from "vitest";
import { testHoldfast } from "holdfast/testing";
import { isNextTick } from "./bullmq.ts";
import type { ForeignSchedule, Source } from "./source.ts";
import { takeSchedules } from "./take-schedules.ts";

function daily(queue: string, name = "daily"): ForeignSchedule {
  return {
    ...{ name, queue, type: "send report", payload: { queue }, cron: null, timeZone: null },
    ...{ everyMs: 86_400_000, startAfterMs: null, isPaused: false },
  };
}

const sourceOf = (all: readonly ForeignSchedule[]) =>
  ({ schedules: async () => all }) as unknown as Source;

it("two queues with a schedule of one name have two here, and another run makes no third", async () => {
  const { hf } = testHoldfast();
  const source = sourceOf([daily("mail"), daily("sms"), daily("mail", "once a day")]);
  const options = { hf, queueOf: () => "default", system: "bullmq" as const };
  for (let run = 0; run < 2; run += 1) {
    expect(await takeSchedules(source, options)).toEqual({ found: 3, set: 3, refused: [] });
  }
  const names = (await hf.schedules.list()).map(({ name }) => name).toSorted();
  const marked = expect.stringMatching(/^daily-[0-9a-f]{8}$/) as string;
  expect(names).toEqual([marked, marked, "once-a-day"]);
  await hf.close();
});

it("a tick that was tried and waits for its retry is a job; one that is to come is not", () => {
  const tick = { name: "report", rjk: "daily" };
  expect(isNextTick(tick)).toBe(true);
  expect(isNextTick({ ...tick, atm: "0" })).toBe(true);
  expect(isNextTick({ ...tick, atm: "1", processedOn: "1790000000000" })).toBe(false);
  expect(isNextTick({ name: "report" })).toBe(false);
});
