/** Then: the CRM is back, but refuses a tier and lacks a right. What died of it is replayed once that is mended. */
import { expect } from "vitest";
import { ALERT, WAIT, type Chapter, type Day } from "./day.ts";
import { MemberDesk } from "./member-desk.ts";
import type { Office } from "../office.ts";

const REASON = "the portal is mended";
/** Behind everybody who joined in the outage. */
const FROM = 1_000;
/** Which operations die, and so what staff hear of. */
const DIE = ["create_contact", "sync_tier", "sync_payment", "sync_day_pass"];

export const crmReplay: Chapter = {
  claim:
    "what died of a fault of the CRM is told to staff, and a replay mends it without undoing what came later",
  async tell(day) {
    const office = day.at(day.front);
    const desk = new MemberDesk(day, office);
    const { member: old, jobs } = await desk.join(FROM);
    for (const id of jobs) await day.resultOf(id);
    const mend = breakPortal(day);
    const { jobs: joined } = await desk.join(FROM + 1, "platinum");
    const [early = ""] = await desk.edit(old, { tier: "platinum" });
    const later = await desk.edit(old, { tier: "premium" });
    const paid = await desk.pay(old, { id: "pi_scope_1", amount: 99.99 });
    const passed = await desk.pay(old, { id: "pi_scope_2", amount: 12, kind: "day_pass" });
    const [contact = ""] = joined;
    const dead = [contact, early, ...paid, ...passed];
    for (const id of dead) {
      expect(await day.endOf(id), id).toMatchObject({ status: "dead" });
    }
    for (const id of later) await day.resultOf(id);
    await staffAreTold(day);
    mend();
    await replay(office, dead);
    expect(await day.resultOf(early)).toEqual({
      ...{ skipped: "superseded", values: ["membership_tier"] },
    });
    for (const id of dead) await day.resultOf(id);
    const audit = async () => JSON.stringify((await office.get("admin", "/api/v1/audit")).body);
    await expect.poll(audit, WAIT).toContain(REASON);
  },
};

/** Somebody made a list of the tiers and forgot one, and took a right from the token. Answers what mends both. */
function breakPortal({ crm }: Day): () => void {
  const properties = crm.portal.properties("contacts");
  const before = properties.get("membership_tier");
  if (!before) throw new Error("the portal has no tiers yet");
  const options = ["basic", "plus", "premium"].map((value) => ({ label: value, value }));
  const listed = { ...before, type: "enumeration", fieldType: "select", options } as const;
  properties.set("membership_tier", listed);
  crm.faults.add({
    ...{ kind: "missing_scopes", scopes: ["crm.objects.notes.write"] },
    ...{ path: /\/notes\//, times: Infinity },
  });
  return () => {
    properties.set("membership_tier", before);
    crm.faults.clear();
  };
}

/** One that died of the outage is told with those; the evening counts them all. */
async function staffAreTold(day: Day): Promise<void> {
  const subjects = async () => (await day.data.find("outbox", {})).map(({ subject }) => subject);
  const expected = DIE.map((operation) => `${ALERT}: ${operation} of hubspot died`);
  await expect.poll(subjects, WAIT).toEqual(expect.arrayContaining(expected));
}

/** As a person does it: which are dead, a plan of all of them, and the operation watched to its end. */
async function replay(office: Office, dead: readonly string[]): Promise<void> {
  const listed = await office.get("staff", "/api/v1/dead-letters?queue=hubspot&limit=200");
  const ids = (listed.body.data.items as { id: string }[]).map(({ id }) => id);
  expect(new Set(ids)).toEqual(new Set([...ids, ...dead]));
  const body = { queue: "hubspot", reason: REASON, useFullRetry: true };
  const begun = await office.post("staff", "/api/v1/dead-letters/replay", body);
  expect(begun).toMatchObject({ status: 201, body: { data: { plan: { count: ids.length } } } });
  const path = `/api/v1/operations/${begun.body.data.operation.id}`;
  const operation = async () => (await office.get("staff", path)).body.data as object;
  await expect.poll(operation, WAIT).toMatchObject({
    ...{ state: "finished", of: ids.length, done: ids.length, refused: 0, missing: 0 },
    ...{ succeeded: ids.length, failedAgain: 0, reason: REASON },
  });
}
