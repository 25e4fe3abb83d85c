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
  if (outbound) await setOutbound(hf, outbound, [...primary, ...SECONDARY_QUEUES], why);
  for (const action of ACTIONS) {
    const limit = capacity[action];
    if (limit === undefined) continue;
    const isActivity = (ACTIVITIES as readonly string[]).includes(action);
    const queue = isActivity ? secondaryQueue(action as ActivityType) : primary;
    await hf.gates.set(gateOf(action), { queue, rate: { limit, perMs: MINUTE } }, why);
  }
}

/**
 * Defaults give way to what is there: a process that only plans does not know what the other side bears, nor what an
 * operator has set since.
 */
async function setOutbound(
  hf: Holdfast,
  { cooldown, breaker, isNamed }: NonNullable<CheckedOptions["outbound"]>,
  queue: readonly string[],
  why: WhyOptions,
): Promise<void> {
  const found = isNamed ? null : await hf.gates.get(OUTBOUND_GATE);
  if (found === null) {
    await hf.gates.set(OUTBOUND_GATE, { queue, cooldown, ...(breaker && { breaker }) }, why);
    return;
  }
  const { targets, per } = found;
  const missing = queue.filter((name) => !targets.some((target) => target.queue === name));
  if (missing.length === 0) return;
  const has = targets.map((target) => {
    return target.group === null ? target.queue : { queue: target.queue, group: target.group };
  });
  const kept = {
    ...{ cooldown: found.cooldown ?? false, ...(per && { per }) },
    ...(found.breaker && { breaker: { ...found.breaker, countsAsDown: found.countsAsDown } }),
    ...(found.rate.length > 0 && { rate: found.rate }),
  };
  await hf.gates.set(OUTBOUND_GATE, { queue: [...has, ...missing], ...kept }, why);
}
