/** Afternoon: release 2 comes beside release 1, both work on the same jobs, and release 1 leaves. */
import { expect } from "vitest";
import type { Office } from "../office.ts";
import { COMPANIES, YEAR } from "./bookings.ts";
import type { Chapter, Day } from "./day.ts";

const ROUNDS = 3;

export const afternoonDeploy: Chapter = {
  claim:
    "a deploy with a changed handler beside the old one loses no job, and the new one has the last word",
  async tell(day) {
    const old = day.front;
    const fresh = await day.comes({ release: 2 });
    const [before, after] = [day.at(old), day.at(fresh)];
    const workers = await after.get("viewer", "/api/v1/workers");
    const text = JSON.stringify(workers.body);
    expect([text.includes('"1.0.0"'), text.includes('"2.0.0"')]).toEqual([true, true]);
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ids.push(...(await bookAndAsk(day, before, `old-${round}`)));
      ids.push(...(await bookAndAsk(day, after, `new-${round}`)));
    }
    await day.note(before, "Release 1 says goodbye");
    expect(await old.leave()).toBe(0);
    for (const id of ids) await day.resultOf(id);
    const [company = ""] = COMPANIES;
    const last = await bookAndAsk(day, after, "last", [company]);
    expect(await day.resultOf(last[0] ?? "")).toEqual({ months: 12, reports: 0, release: 2 });
    await day.note(after, "Release 2 is alone");
    day.front = fresh;
  },
};

/** One more booking for each company, and the recalculation that it asks for. */
async function bookAndAsk(
  day: Day,
  office: Office,
  name: string,
  companies: readonly string[] = COMPANIES,
): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, company] of companies.entries()) {
    const booking = {
      ...{ transactionId: `DEPLOY-${name}-${at}`, date: "2026-06-30" },
      ...{ amount: 1.01 + at, category: "sales" },
    };
    const booked = await office.post("staff", `/api/companies/${company}/transactions`, booking);
    expect(booked.status).toBe(201);
    ids.push(day.took(await office.post("staff", `/api/companies/${company}/recalc`, YEAR)));
  }
  return ids;
}
