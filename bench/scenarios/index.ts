/** All questions, in the order in which they are asked. */
import type { Scenario } from "../scenario.ts";
import { groups, held, waiting } from "./backlog.ts";
import { drainDeleted, drainKept } from "./drain.ts";
import { bulk, enqueue } from "./enqueue.ts";
import { latency, latencyAcross } from "./latency.ts";
import { memory } from "./memory.ts";

export const SCENARIOS: readonly Scenario[] = [
  enqueue,
  bulk,
  drainKept,
  drainDeleted,
  latency,
  latencyAcross,
  waiting,
  groups,
  held,
  memory,
];

export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`there is no scenario "${name}"`);
  return found;
}
