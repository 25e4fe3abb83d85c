import type { Court, Watcher } from "../watcher.ts";
import { acknowledgement } from "./acknowledgement.ts";
import { attemptsCounted, crashesCounted, reapsInTouch } from "./counting.ts";
import { chargedRightly } from "./charges.ts";
import { oneEntryPerFailure } from "./failed-attempts.ts";
import { gates } from "./gates.ts";
import { holdsAreOwned, probesAreShared, ratesAreKept } from "./gate-states.ts";
import { keys } from "./keys.ts";
import { fenceGrows, lostIsTold, noStaleWrite, oneHolder, runsUnderLease } from "./leases.ts";
import { oneRunPerScope, skippedIsDone } from "./locks.ts";
import { operationsConserve } from "./operations.ts";
import { onlyTheCulprit } from "./poison.ts";
import { retention } from "./retention.ts";
import { savedCheckpoints, storedSteps } from "./saved-work.ts";
import { shown } from "./shown.ts";
import { entriesWithOutcome, spawnedWithParent } from "./spawned.ts";
import { spinning } from "./spinning.ts";
import { ticks } from "./ticks.ts";
import { rolledBackIsNoSuccess } from "./transactions.ts";
import { fairTurns, placeInLine } from "./turns.ts";

/** In this order: of two that see the same trouble, the more telling one speaks first. */
export function allInvariants(court: Court): Watcher[] {
  return [
    acknowledgement,
    keys,
    ticks,
    rolledBackIsNoSuccess,
    spawnedWithParent,
    entriesWithOutcome,
    oneHolder,
    fenceGrows,
    noStaleWrite,
    runsUnderLease,
    lostIsTold,
    storedSteps,
    savedCheckpoints,
    crashesCounted,
    chargedRightly,
    onlyTheCulprit,
    attemptsCounted,
    reapsInTouch,
    gates,
    placeInLine,
    fairTurns,
    oneRunPerScope,
    skippedIsDone,
    oneEntryPerFailure,
    operationsConserve,
    ratesAreKept,
    probesAreShared,
    holdsAreOwned,
    retention,
    spinning,
    shown,
  ].map((invariant) => invariant(court));
}
