/**
 * The CRM of a sample business: a double is empty at every start, so what the business has is brought there, and a
 * simulation of an hour begins. One of an earlier start ends: what it has made in the CRM is gone.
 */
import type { Pacing } from "@holdfast/pacing";
import type { CrmTarget } from "../crm/crm-target.ts";
import type { Members } from "../crm/members.ts";

export interface SampleCrmParts {
  readonly target: CrmTarget;
  readonly members: Members;
  readonly pacing: Pacing;
}

const HOUR_MS = 3_600_000;
const PREFIX = "sample-";
const WHY = { by: "sample", reason: "something to look at" };
const SCENARIO = {
  ...{ deals: true, winRate: 0.3 },
  probabilities: { note: 0.5, call: 0.3, task: 0.2, ticket: 0.1 },
} as const;

/** Never into a portal that is somebody's. */
export async function sampleCrm({ target, members, pacing }: SampleCrmParts): Promise<void> {
  if (target.double === null) return;
  await endEarlier(pacing);
  await members.resync();
  const id = `${PREFIX}${new Date().toISOString().slice(0, 19).replaceAll(":", "")}`;
  const plan = { id, records: 240, durationMs: HOUR_MS, segmentMs: HOUR_MS / 4 };
  await pacing.create({ ...plan, scenario: SCENARIO }, WHY);
  await pacing.start(id, WHY);
}

async function endEarlier(pacing: Pacing): Promise<void> {
  for (const status of ["running", "paused"] as const) {
    const { simulations } = await pacing.list({ status, limit: 200 });
    for (const { id } of simulations.filter((sim) => sim.id.startsWith(PREFIX))) {
      await pacing.abort(id, { by: "sample", reason: "the CRM of the sample is empty again" });
    }
  }
}
