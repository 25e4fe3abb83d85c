/**
 * What the CRM must have in the evening: every member as it is in the business, every payment, whatever simulations
 * say that they have made, and each of them once.
 */
import type { ObjectType } from "@holdfast/crm/double";
import { expect } from "vitest";
import { COMPANIES } from "./bookings.ts";
import { countersOf } from "./crm-simulation.ts";
import type { Day } from "./day.ts";

/** Ids of notes that payments are; those of simulations are UUIDs. */
const PAYMENT = /_pi_/;

export async function crmEqualsMembers(day: Day): Promise<void> {
  const members = await day.data.find("members", {});
  const payments = await day.data.find("payments", {}, { orderBy: "createdAt" });
  for (const member of members) {
    const own = payments.filter(({ memberId }) => memberId === member.id);
    const paid = own.findLast(({ kind }) => kind === "payment");
    const contact = day.crm.contact(member.email);
    expect(contact?.properties, member.email).toEqual({
      ...{ email: member.email, firstname: member.firstName, lastname: member.lastName },
      ...(member.phone !== null && { phone: member.phone }),
      ...{ membership_tier: member.tier, membership_status: member.status },
      ...(paid && { last_payment_at: paid.createdAt, last_payment_amount: paid.amount.toFixed(2) }),
      ...(own.some(({ kind }) => kind === "day_pass") && {
        last_day_pass_at: own.findLast(({ kind }) => kind === "day_pass")?.createdAt,
      }),
    });
    const company = day.crm.portal.find("companies", member.companyId, "external_id");
    const { id = "" } = contact ?? {};
    expect(day.crm.portal.associated("contacts", id, "companies")).toEqual([company?.id]);
    expect(day.crm.portal.associated("contacts", id, "notes")).toHaveLength(own.length);
  }
  const emails = valuesOf(day, "contacts", "email").filter((email) => !isSimulated(email));
  expect(emails.toSorted()).toEqual(members.map(({ email }) => email).toSorted());
  expect(valuesOf(day, "companies", "external_id").toSorted()).toEqual(COMPANIES.toSorted());
  const notes = valuesOf(day, "notes", "external_id").filter((id) => PAYMENT.test(id));
  const asked = payments.map(({ id, kind }) => `${kind}_${id}`);
  expect(notes.toSorted()).toEqual(asked.toSorted());
}

/** The counters of all simulations, and the objects of the CRM that are not of the business. */
export async function crmEqualsSimulations(day: Day): Promise<void> {
  const all = await Promise.all([...day.simulations].map((one) => countersOf(day, one)));
  const sum = (counter: string) => all.reduce((total, one) => total + (one[counter] ?? 0), 0);
  expect(valuesOf(day, "contacts", "email").filter(isSimulated)).toHaveLength(
    sum("records_created"),
  );
  const stages = valuesOf(day, "deals", "dealstage");
  expect(stages.filter((stage) => stage === "closedwon")).toHaveLength(sum("deals_won"));
  expect(stages.filter((stage) => stage === "closedlost")).toHaveLength(sum("deals_lost"));
  expect(stages).toHaveLength(sum("records_created"));
  for (const object of ["notes", "calls", "tasks", "tickets"] as const) {
    const ids = valuesOf(day, object, "external_id").filter((id) => !PAYMENT.test(id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids, object).toHaveLength(sum(`${object}_executed`));
    expect(ids, object).toHaveLength(sum(`${object}_scheduled`));
    for (const { id } of day.crm.objects(object)) {
      expect(day.crm.portal.associated(object, id, "contacts"), `${object} ${id}`).toHaveLength(1);
    }
  }
  for (const { id } of day.crm.objects("deals")) {
    expect(day.crm.portal.associated("deals", id, "contacts"), `deal ${id}`).toHaveLength(1);
  }
}

function isSimulated(email: string): boolean {
  return email.endsWith("@simulations.example");
}

function valuesOf(day: Day, object: ObjectType, property: string): string[] {
  return day.crm.objects(object).map(({ properties }) => properties[property] ?? "");
}
