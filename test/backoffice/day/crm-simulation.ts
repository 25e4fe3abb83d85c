/** Then: a simulation fills the CRM by the same client, and a process is killed behind a deal that nobody knows of. */
import { expect } from "vitest";
import { inTier } from "../../runner/tier.ts";
import { WAIT, type Chapter, type Day } from "./day.ts";
import { killTheFirst } from "./fleet.ts";

const BASE = "/api/simulations";
const RECORDS = inTier({ daily: 12, full: 120 });
const SOON = [0, 20];
/** Fewer than there are records: a kill must not spend one twice. */
const TICKETS = RECORDS / 2;
const PLAN = {
  ...{ records: RECORDS, durationMs: 2_000, segmentMs: 1_000, begin: true },
  scenario: {
    ...{ deals: true, winRate: 0.5, probabilities: { note: 1, call: 0.5, task: 1, ticket: 1 } },
    budgets: { ticket: TICKETS },
    delaysMs: { note: SOON, call: SOON, task: SOON, ticket: SOON },
  },
};
const ACTIVITIES = ["notes", "calls", "tasks", "tickets"] as const;

export const crmSimulation: Chapter = {
  claim:
    "a simulation makes each record and activity once, also when a process is killed and answers get lost",
  async tell(day) {
    const first = day.front;
    const second = await day.comes({ release: 2 });
    const simulation = "dusk";
    // Two are made, and nobody hears of it: each is a kill of its own.
    for (const path of [/\/contacts\//, /\/tasks\//]) {
      day.crm.faults.add({ kind: "reset", when: "after", path });
    }
    day.front = await killTheFirst([first, second], {
      stand: { point: "deals", nth: 2 },
      async begin() {
        const plan = { id: simulation, ...PLAN };
        const made = await day.at(second).post("staff", BASE, plan);
        expect(made).toMatchObject({ status: 200, body: { status: "running" } });
        day.simulations.add(simulation);
      },
    });
    const status = async () =>
      (await day.at(day.front).get("viewer", `${BASE}/${simulation}`)).body.status as string;
    await expect.poll(status, WAIT).toBe("completed");
    const dead = await day.at(day.front).get("viewer", `${BASE}/${simulation}/dlq`);
    expect(dead.body).toMatchObject({ total: 0, samples: [] });
    // Its activities come after its records.
    await expect.poll(async () => left(await countersOf(day, simulation)), WAIT).toBe(0);
    expect(day.crm.faults.left).toBe(0);
    const counters = await countersOf(day, simulation);
    expect(counters).toMatchObject({ records_created: RECORDS, records_failed: 0 });
    expect(counters["tickets_executed"]).toBeLessThanOrEqual(TICKETS);
  },
};

/** What the simulation says of itself. */
export async function countersOf(
  day: Day,
  simulation: string,
): Promise<Readonly<Record<string, number>>> {
  const answer = await day.at(day.front).get("viewer", `${BASE}/${simulation}/metrics`);
  return answer.body.counters as Readonly<Record<string, number>>;
}

/** Activities that are still to be done. */
function left(counters: Readonly<Record<string, number>>): number {
  return ACTIVITIES.reduce(
    (sum, type) => sum + (counters[`${type}_scheduled`] ?? 0) - (counters[`${type}_executed`] ?? 0),
    0,
  );
}
