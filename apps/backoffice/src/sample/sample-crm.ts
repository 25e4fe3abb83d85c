/**
 * The CRM of a sample business: a double is empty at every start, so what the business has is brought there, and a
 * simulation of an hour begins unless one of the sample is under way.
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
  await members.resync();
  const { simulations } = await pacing.list({ status: "running", limit: 200 });
  if (simulations.some(({ id }) => id.startsWith(PREFIX))) return;
  const id = `${PREFIX}${new Date().toISOString().slice(0, 16).replace(":", "")}`;
  const plan = { id, records: 240, durationMs: HOUR_MS, segmentMs: HOUR_MS / 4 };
  await pacing.create({ ...plan, scenario: SCENARIO }, WHY);
  await pacing.start(id, WHY);
}
