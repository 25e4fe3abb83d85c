/** Late afternoon: the CRM is away while members join and pay, and a process is killed just when it is back. */
import { expect } from "vitest";
import { inTier } from "../../runner/tier.ts";
import type { Office } from "../office.ts";
import { WAIT, type Chapter, type Day } from "./day.ts";
import { killTheFirst } from "./fleet.ts";
import { MemberDesk } from "./member-desk.ts";

/** More than the breaker needs to open, and more than two processes can have in their hands. */
const JOINING = inTier({ daily: 8, full: 24 });
/**
 * Two probes close the breaker, and each writes a contact. With the first contact a probe dies as well, and for half a
 * minute the breaker waits for it; the third one is written when the breaker is closed.
 */
const KILLED_AT = inTier({ daily: 3, full: 1 });
/** So often may a look be slower than the breaker. */
const LOOKS = 10;

export const crmOutage: Chapter = {
  claim:
    "while the CRM is away its breaker opens and jobs wait uncharged, and a kill in the hour of its return loses none",
  async tell(day) {
    const first = day.front;
    await fillNewCrm(day, day.at(first));
    day.crm.faults.add(
      { kind: "rate_limit", retryAfterS: 1 },
      { kind: "status", status: 503, times: Infinity },
    );
    const second = await day.comes({ release: 2 });
    const office = day.at(second);
    const desk = new MemberDesk(day, office);
    for (let nth = 0; nth < JOINING; nth += 1) {
      const { member } = await desk.join(nth);
      if (nth % 2 === 0) await desk.pay(member, { id: `pi_day_${nth}`, amount: 10.5 + nth });
      if (nth % 4 === 0) await desk.edit(member, { tier: "plus", phone: `+44 ${nth}` });
    }
    await expect.poll(async () => (await gateOf(office)).state, WAIT).toBe("open");
    await jobsWaitUncharged(day, office, desk);
    day.front = await killTheFirst([first, second], {
      stand: { point: "contacts", nth: KILLED_AT },
      begin: async () => day.crm.faults.clear(),
    });
    // One that was tried again and again may have died: it is among those that are replayed later.
    for (const id of day.asked) await day.endOf(id);
    const state = async () => (await gateOf(day.at(day.front))).state;
    await expect.poll(state, WAIT).toBe("closed");
  },
};

/** It knows nobody yet: an admin has everything brought there. */
async function fillNewCrm(day: Day, office: Office): Promise<void> {
  const answer = await office.post("admin", "/api/crm/resync");
  expect(answer.status).toBe(202);
  const { members, payments } = answer.body as { members: number; payments: number };
  // A contact and its company for each member, a note for each payment.
  const made = 2 * members + payments;
  const ended = async () => (await day.hf.counts())["hubspot"]?.succeeded;
  await expect.poll(ended, WAIT).toBe(made);
  const { jobs } = await day.hf.jobs({ queue: "hubspot", limit: 200 });
  expect(jobs).toHaveLength(made);
  for (const { id } of jobs) day.asked.add(id);
}

/** Looked at while the breaker is open all the time; whoever is slower than it looks at another member. */
async function jobsWaitUncharged(day: Day, office: Office, desk: MemberDesk): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    await expect.poll(async () => (await gateOf(office)).state, WAIT).toBe("open");
    const before = await gateOf(office);
    const { jobs: ids } = await desk.join(JOINING + look);
    const jobs = await Promise.all(ids.map((id) => day.hf.job(id)));
    const after = await gateOf(office);
    if (before.openUntil !== after.openUntil || after.state !== "open") continue;
    const waiting = { status: "queued", attempts: 0 };
    expect(jobs).toMatchObject(ids.map(() => waiting));
    return;
  }
  throw new Error("the breaker was never open for long enough to be looked at");
}

async function gateOf(office: Office): Promise<{ state: string; openUntil: string | null }> {
  const answer = await office.get("viewer", "/api/v1/gates/hubspot");
  return answer.body.data as { state: string; openUntil: string | null };
}
