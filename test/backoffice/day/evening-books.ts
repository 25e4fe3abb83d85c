/** Evening: the books are closed, and everything that was asked for is looked for. */
import { expect } from "vitest";
import { monthTotals } from "../../../apps/backoffice/src/cfo/books.ts";
import { COMPANIES } from "./bookings.ts";
import { ALERT, type Chapter, type Day } from "./day.ts";
import { crmEqualsMembers, crmEqualsSimulations } from "./evening-crm.ts";

/** Of the sample: who gets a note to all. */
const STAFF = 2;
const OWN = /^(holdfast\.|simulation-)/;

export const eveningBooks: Chapter = {
  claim:
    "in the evening the books balance, the CRM equals the business, nothing is lost, and nothing was done twice",
  async tell(day) {
    const last = day.front;
    const office = day.at(last);
    for (const company of COMPANIES) {
      await day.resultOf(
        day.took(await office.post("staff", `/api/companies/${company}/snapshots`)),
      );
    }
    await booksBalance(day);
    await crmEqualsMembers(day);
    await crmEqualsSimulations(day);
    await nothingIsLost(day);
    await nothingIsTwice(day);
    expect(await last.leave()).toBe(0);
  },
};

/** Snapshots equal a recomputation from the bookings. */
async function booksBalance(day: Day): Promise<void> {
  for (const companyId of COMPANIES) {
    const kept = await day.data.find("snapshots", { companyId }, { orderBy: "month" });
    const totals = kept.map(({ companyId: _, computedAt: __, ...rest }) => rest);
    expect(totals).toEqual(monthTotals(await day.data.find("transactions", { companyId })));
  }
}

async function nothingIsLost(day: Day): Promise<void> {
  for (const id of day.asked) await day.resultOf(id);
  const counts = Object.values(await day.hf.counts());
  const sum = (pick: "ready" | "delayed" | "processing" | "dead" | "retrying") =>
    counts.reduce((total, one) => total + one[pick], 0);
  expect([sum("ready"), sum("delayed"), sum("processing"), sum("dead")]).toEqual([0, 0, 0, 0]);
}

/** No job that nobody asked for, no note that came twice. */
async function nothingIsTwice(day: Day): Promise<void> {
  const outbox = await day.data.find("outbox", {});
  const [alerts, notes] = [true, false].map((isAlert) =>
    outbox.filter(({ subject }) => subject.startsWith(ALERT) === isAlert),
  ) as [typeof outbox, typeof outbox];
  const told = new Set(alerts.map(({ id }) => id.split(":")[0] ?? ""));
  expect((await jobsOf(day)).toSorted()).toEqual([...day.asked, ...told].toSorted());
  // One for each fault, to each of them.
  expect(new Set(alerts.map(({ body, recipient }) => `${body} to ${recipient}`)).size).toBe(
    told.size * STAFF,
  );
  expect(alerts).toHaveLength(told.size * STAFF);
  const sent = notes.map(({ subject, recipient }) => `${subject} to ${recipient}`);
  expect(new Set(sent).size).toBe(sent.length);
  expect(new Set(notes.map(({ subject }) => subject))).toEqual(day.notes);
  expect(sent).toHaveLength(day.notes.size * STAFF);
}

/** All but those that the library and simulations make for themselves: what the latter do is counted in the CRM. */
async function jobsOf(day: Day): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof day.hf.jobs>> = await day.hf.jobs({ limit: 200, cursor });
    ids.push(...page.jobs.flatMap(({ id, queue }) => (OWN.test(queue) ? [] : [id])));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}
