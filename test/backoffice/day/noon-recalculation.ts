/** Noon: the year is recalculated, many times asked for; the process that does it is killed between two months. */
import { expect } from "vitest";
import { COMPANIES, YEAR } from "./bookings.ts";
import type { Chapter } from "./day.ts";

const ASKED_BESIDE = 4;

export const noonRecalculation: Chapter = {
  claim:
    "a recalculation that is asked for many times is done once, also when its process is killed",
  async tell(day) {
    const [company = ""] = COMPANIES;
    const path = `/api/companies/${company}/recalc`;
    const first = day.front;
    const holder = day.took(await day.at(first).post("staff", path, YEAR));
    await first.stands("recalc");
    const second = await day.comes({ release: 1 });
    const office = day.at(second);
    const beside: string[] = [];
    for (let n = 0; n < ASKED_BESIDE; n += 1) {
      beside.push(day.took(await office.post("staff", path, YEAR)));
    }
    for (const id of beside) {
      expect(await day.resultOf(id)).toEqual({ skipped: "already_running" });
    }
    await day.note(office, "Lunch is served");
    await first.kill();
    expect(await day.resultOf(holder)).toMatchObject({ months: 12 });
    expect((await day.hf.job(holder))?.attempts).toBe(2);
    const late = day.took(await office.post("staff", path, YEAR));
    expect(await day.resultOf(late)).toEqual({ skipped: "already_completed" });
    day.front = second;
  },
};
