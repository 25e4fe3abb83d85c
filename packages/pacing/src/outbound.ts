/**
 * Gates of the other side: one for each action, with the scenario's capacity a minute, and one for all of them
 * with the cooldown and the breaker. They are of the library, so they are shared by all shards and processes, and
 * what they hold waits in its queue: no slot is taken, and no attempt is spent.
 */
import type { Holdfast, WhyOptions } from "holdfast";
import { gateOf, OUTBOUND_GATE, primaryQueue, SECONDARY_QUEUES, secondaryQueue } from "./names.ts";
import type { CheckedOptions } from "./pacing-options.ts";
import { ACTIONS, ACTIVITIES, type Action, type ActivityType } from "./scenario.ts";

const MINUTE = 60_000;

export async function setGates(
  hf: Holdfast,
  { shards, outbound }: Pick<CheckedOptions, "shards" | "outbound">,
  capacity: Readonly<Partial<Record<Action, number>>>,
  why: WhyOptions,
): Promise<void> {
  const primary = Array.from({ length: shards }, (_, shard) => primaryQueue(shard));
  if (outbound) {
    const { cooldown, breaker } = outbound;
    const queue = [...primary, ...SECONDARY_QUEUES];
    await hf.gates.set(OUTBOUND_GATE, { queue, cooldown, ...(breaker && { breaker }) }, why);
  }
  for (const action of ACTIONS) {
    const limit = capacity[action];
    if (limit === undefined) continue;
    const isActivity = (ACTIVITIES as readonly string[]).includes(action);
    const queue = isActivity ? secondaryQueue(action as ActivityType) : primary;
    await hf.gates.set(gateOf(action), { queue, rate: { limit, perMs: MINUTE } }, why);
  }
}
