/**
 * How many jobs settlements can have made ready: each is one that comes back or makes room for another, and what it
 * spawned is beside it. So few workers come for few of them (see `Wakeup`). Undefined: any number. What was handed
 * back was on its way already, and whoever has room is to hear of it.
 */
import type { Settlement } from "../../core/store.ts";

export function mostReady(settlements: readonly Settlement[]): number | undefined {
  let count = 0;
  for (const { outcome, spawn } of settlements) {
    if (outcome.kind === "release") return undefined;
    count += 1 + (spawn?.length ?? 0);
  }
  return count;
}
