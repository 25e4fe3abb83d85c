/**
 * Carries operations on: a chore of every process with a worker. A step is claimed in the operation's record,
 * done, and written down. A process that dies in the midst of a step costs that step: the next one finds by the
 * mark on each job which of its ids were dealt with already, so that no job is touched twice.
 */
import type { Chore, Extension, ExtensionHost } from "../../engine/extension.ts";
import { eraseStep } from "./erase.ts";
import { FailureMarks } from "./failure-marks.ts";
import {
  allowance,
  CHUNK,
  isActive,
  isOver,
  withoutBacklog,
  type OperationRecord,
} from "./operation.ts";
import {
  listOperations,
  readOperation,
  writeOperation,
  type Versioned,
} from "./operation-records.ts";
import { step } from "./operation-step.ts";
import { ended, tell } from "./tell-operation.ts";
import { settling, watched } from "./watch-outcomes.ts";

const EVERY_MS = 1_000;
/** Without a word of any change the records are read this often. */
const LOOK_ANYWAY_MS = 60_000;
/** Others leave a claimed operation alone for so long. */
const CLAIM_MS = 5_000;
/** Longest work in one turn, and ids in one step of it. */
const TURN_MS = 1_000;
const STEP = 50;

/** One that ended within this time is told of, by whichever process looks. */
const TOLD_FOR_MS = 86_400_000;
/** A process that has carried it to its end and lives has told of it by then. */
const TELLING_MS = 10_000;
/** After this a process does not touch jobs any more: it may have been frozen, and another one carries on. */
const STALE_MS = CLAIM_MS - 1_000;

export interface OperationsTold {
  /** One that stopped itself. May be told again and again. */
  readonly stopped: (operation: OperationRecord) => Promise<void>;
}

export function operationsExtension(host: ExtensionHost, told: OperationsTold): Extension {
  return { name: "operations", chores: [operationsChore(host, told)] };
}

function operationsChore(host: ExtensionHost, told: OperationsTold): Chore {
  const marks = new FailureMarks(host);
  let lookedAt = -Infinity;
  let ids: readonly string[] = [];
  host.workers.onChange(() => (lookedAt = -Infinity));
  return {
    name: "operations",
    everyMs: EVERY_MS,
    async run({ isStopped }) {
      const now = host.runtime.monotonic();
      if (now - lookedAt >= LOOK_ANYWAY_MS) {
        lookedAt = now;
        const all = await listOperations(host.records).catch((error: unknown) => {
          lookedAt = -Infinity;
          throw error;
        });
        ids = all
          .filter(({ operation }) => isActive(operation))
          .map(({ operation }) => operation.id);
        await tellOthers(host, told, all);
      }
      for (const id of ids) {
        if (isStopped()) return;
        const others = ids.filter((other) => other !== id);
        try {
          if (await carryOn(host, id, marks)) continue;
        } catch (error) {
          // Its ledger may be away, for example: the others come first next time.
          ids = [...others, id];
          throw error;
        }
        ids = others;
        // It may have stopped itself: the records are read again, by every process.
        lookedAt = -Infinity;
      }
    },
  };
}

/** What processes that died carried to its end and did not tell of. */
async function tellOthers(
  host: ExtensionHost,
  told: OperationsTold,
  all: readonly Versioned[],
): Promise<void> {
  const over = all.filter(
    ({ operation: { state } }) => state === "stopped" || state === "finished",
  );
  if (over.length === 0) return;
  const now = await host.jobs.now();
  for (const current of over) {
    const { operation } = current;
    const agoMs = now - (operation.endedAt ?? 0);
    if (agoMs >= TOLD_FOR_MS) continue;
    if (operation.told === false && agoMs >= TELLING_MS) await tell(host, current);
    if (operation.state === "stopped") await told.stopped(operation);
  }
}

/** One turn. False: there is nothing left to do for it. */
async function carryOn(host: ExtensionHost, id: string, marks: FailureMarks): Promise<boolean> {
  const until = host.runtime.monotonic() + TURN_MS;
  const staleAt = host.runtime.monotonic() + STALE_MS;
  const isStale = () => host.runtime.monotonic() >= staleAt;
  const claimed = await claim(host, id);
  if (claimed === "over") return false;
  if (claimed?.operation.action === "erase") return erased(host, claimed, until);
  let current = claimed && (await marks.mark(claimed));
  if (current?.operation.state === "running") {
    current = await watched(host, current);
    if (current === null) return false;
  }
  while (current !== null && !isOver(current.operation)) {
    const now = await host.jobs.now();
    const { operation } = current;
    if (operation.state === "settling") return settling(host, current, now);
    const most = Math.min(allowance(operation, now), STEP, CHUNK - (operation.next % CHUNK));
    // What a process began and did not write down is repeated as it was begun.
    const { step: begun, next } = operation;
    const size = begun?.from === next ? begun.to - next : most;
    // One that was paused during its last step has nothing left to do but to end.
    if (size === 0 && next < operation.count) return true;
    current = await step(host, current, { size, now, isStale, marks });
    if (current !== null) current = await marks.mark(current);
    if (host.runtime.monotonic() >= until) break;
  }
  return true;
}

/** An erasure: page after page for one turn. */
async function erased(host: ExtensionHost, claimed: Versioned, until: number): Promise<boolean> {
  let current = claimed;
  for (;;) {
    const { erase, isOver: isDone, wait } = await eraseStep(host, current.operation);
    const done = erase.jobs;
    const after: OperationRecord = { ...current.operation, erase, done, count: done };
    const now = await host.jobs.now();
    const written: OperationRecord = isDone ? ended(after, now) : after;
    const next = await writeOperation(host.records, written, current.version);
    if (next === null) return true;
    current = next;
    if (isDone) {
      await tell(host, next);
      return false;
    }
    if (wait || host.runtime.monotonic() >= until) return true;
  }
}

async function claim(host: ExtensionHost, id: string): Promise<Versioned | "over" | null> {
  const carrier = host.workers.id;
  const found = await readOperation(host.records, id);
  if (found === null || !isActive(found.operation)) return "over";
  const now = await host.jobs.now();
  const { carrier: other } = found.operation;
  if (other !== null && other.id !== carrier && other.until > now) return null;
  const held = { id: carrier, until: now + CLAIM_MS };
  const claimed = { ...withoutBacklog(found.operation, now), carrier: held };
  return writeOperation(host.records, claimed, found.version);
}
