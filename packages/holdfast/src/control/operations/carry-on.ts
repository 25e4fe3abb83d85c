/**
 * Carries operations on: a chore of every process with a worker. A step is claimed in the operation's record,
 * done, and written down. A process that dies in the midst of a step costs that step: the next one finds by the
 * mark on each job which of its ids were dealt with already, so that no job is touched twice.
 */
import type { StoredJob } from "../../core/job.ts";
import { operationMark } from "../../core/lineage.ts";
import type { Change } from "../../core/store.ts";
import {
  derivedUuid,
  type Chore,
  type Extension,
  type ExtensionHost,
} from "../../engine/extension.ts";
import { resolveEntries } from "../failures/resolve-entries.ts";
import { eraseStep } from "./erase.ts";
import {
  allowance,
  CHUNK,
  failsTooOften,
  isActive,
  outcomesOf,
  type IdRef,
  withoutBacklog,
  type OperationRecord,
} from "./operation.ts";
import { listOperations, readChunk, readOperation, writeOperation } from "./operation-records.ts";
import type { Versioned } from "./operation-records.ts";

const EVERY_MS = 1_000;
/** Without a word of any change the records are read this often. */
const LOOK_ANYWAY_MS = 60_000;
/** Others leave a claimed operation alone for so long. */
const CLAIM_MS = 5_000;
/** Longest work in one turn, and ids in one step of it. */
const TURN_MS = 1_000;
const STEP = 50;
/** Outcomes that are not known after this are not waited for. */
const SETTLING_MS = 10 * 60_000;

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
  const carrier = host.workers.id;
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
        const all = await listOperations(host.records);
        ids = all
          .filter(({ operation }) => isActive(operation))
          .map(({ operation }) => operation.id);
        await tellOthers(host, told, all);
      }
      const left: string[] = [];
      for (const id of ids) {
        if (isStopped()) return;
        if (await carryOn(host, id, carrier)) left.push(id);
        // It may have stopped itself: the records are read again, by every process.
        else lookedAt = -Infinity;
      }
      ids = left;
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
async function carryOn(host: ExtensionHost, id: string, carrier: string): Promise<boolean> {
  const until = host.runtime.monotonic() + TURN_MS;
  const staleAt = host.runtime.monotonic() + STALE_MS;
  const isStale = () => host.runtime.monotonic() >= staleAt;
  const claimed = await claim(host, id, carrier);
  if (claimed === "over") return false;
  let current = claimed;
  if (current?.operation.action === "erase") return erased(host, current, until);
  if (current?.operation.state === "running") {
    current = await watched(host, current);
    if (current === null) return false;
  }
  while (current !== null) {
    const now = await host.jobs.now();
    const { operation } = current;
    if (operation.state === "settling") return settling(host, current, now);
    const most = Math.min(allowance(operation, now), STEP, CHUNK - (operation.next % CHUNK));
    // What a process began and did not write down is repeated as it was begun.
    const { step: begun, next } = operation;
    const size = begun?.from === next ? begun.to - next : most;
    // One that was paused during its last step has nothing left to do but to end.
    if (size === 0 && next < operation.count) return true;
    current = await step(host, current, { size, now, isStale });
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

async function claim(
  host: ExtensionHost,
  id: string,
  carrier: string,
): Promise<Versioned | "over" | null> {
  const found = await readOperation(host.records, id);
  if (found === null || !isActive(found.operation)) return "over";
  const now = await host.jobs.now();
  const { carrier: other } = found.operation;
  if (other !== null && other.id !== carrier && other.until > now) return null;
  const held = { id: carrier, until: now + CLAIM_MS };
  const claimed = { ...withoutBacklog(found.operation, now), carrier: held };
  return writeOperation(host.records, claimed, found.version);
}

/** Deals with the next ids. Null: another process has it now, or a person stopped it. */
async function step(
  host: ExtensionHost,
  { operation, version }: Versioned,
  turn: { readonly size: number; readonly now: number; readonly isStale: () => boolean },
): Promise<Versioned | null> {
  const { size, isStale } = turn;
  const { next, id } = operation;
  const refs = (await readChunk(host.records, id, Math.floor(next / CHUNK))).slice(
    next % CHUNK,
    (next % CHUNK) + size,
  );
  const jobs = await host.jobs.get(refs);
  const isRepeat = operation.step?.from === next && operation.step.to === next + refs.length;
  const goneNow = jobs.filter(isGone).length;
  const gone = isRepeat ? (operation.step?.gone ?? 0) : goneNow;
  const at = isRepeat ? operation.step?.at : turn.now;
  const begun = { ...operation, step: { from: next, to: next + refs.length, gone, at } };
  const claimed = await writeOperation(host.records, begun, version);
  if (claimed === null) return null;
  const since = (isRepeat ? at : undefined) ?? Infinity;
  const results = await apply(host, operation, { refs, jobs, since, isStale });
  if (results === null) return null;
  const counts = { done: 0, refused: 0, missing: 0 };
  for (const result of results) counts[result] += 1;
  // What was there when the step began and is gone now was dealt with by a process that died in it: removed, or
  // retried and deleted once it had succeeded.
  counts.done += goneNow - gone;
  counts.missing -= goneNow - gone;
  const after: OperationRecord = {
    ...begun,
    next: next + refs.length,
    done: operation.done + counts.done,
    refused: operation.refused + counts.refused,
    missing: operation.missing + counts.missing,
    step: null,
  };
  const isLast = after.next >= after.count || refs.length === 0;
  const endedAt = await host.jobs.now();
  const written: OperationRecord = isLast ? ended(after, endedAt) : after;
  const done = await writeOperation(host.records, written, claimed.version);
  if (done === null) await countBeside(host, after);
  else if (isLast && written.state === "finished") await tell(host, done);
  return done;
}

/** A person paused or aborted it during this step: what the step did counts all the same. */
async function countBeside(host: ExtensionHost, after: OperationRecord): Promise<void> {
  const { id, next, done, refused, missing, carrier } = after;
  for (;;) {
    const found = await readOperation(host.records, id);
    const isOurs =
      found?.operation.carrier?.id === carrier?.id && found?.operation.step?.to === next;
    // Else another process has repeated the step, and has counted.
    if (!found || !isOurs) return;
    const counted = { ...found.operation, next, done, refused, missing, step: null };
    if ((await writeOperation(host.records, counted, found.version)) !== null) return;
  }
}

type Result = "done" | "refused" | "missing";

/** Null: this process was away for too long, and touches nothing more. */
async function apply(
  host: ExtensionHost,
  operation: OperationRecord,
  step: {
    readonly refs: readonly IdRef[];
    readonly jobs: readonly (StoredJob | "pruned" | null)[];
    /** Of a step that is repeated: when it was begun. */
    readonly since: number;
    readonly isStale: () => boolean;
  },
): Promise<Result[] | null> {
  const { refs, jobs, since, isStale } = step;
  const { by, reason } = operation;
  const mark = operationMark(operation);
  const results = new Map<string, Result>();
  const waiting: StoredJob[] = [];
  const retriedBefore: StoredJob[] = [];
  refs.forEach(({ id }, at) => {
    const job = jobs[at];
    if (isGone(job)) results.set(id, "missing");
    else if (operation.action === "retry" && job.by === mark) {
      results.set(id, "done");
      retriedBefore.push(job);
    } else if (operation.action === "retry" && job.updatedAt > since) {
      // It was retried before, and a person has changed it since: theirs is the last word.
      results.set(id, "done");
    } else waiting.push(job);
  });
  // Its process may have died before it marked their failures.
  for (const { jobs: alike, attempts } of byAttempts(host, operation, retriedBefore)) {
    for (const { id, maxAttempts } of alike) {
      await resolved(host, { id, attempts: maxAttempts - attempts }, { by, reason });
    }
  }
  const why = { reason, by: mark };
  for (const { jobs: alike, attempts } of byAttempts(host, operation, waiting)) {
    if (isStale()) return null;
    const target = { ids: alike.map(({ id, queue }) => ({ id, queue })) };
    const { changes } = await changed(host, operation, { target, attempts, why });
    for (const { id, result } of changes) results.set(id, result === "asked" ? "done" : result);
    if (operation.action !== "retry") continue;
    const retried = new Set(changes.filter(({ result }) => result === "done").map(({ id }) => id));
    for (const job of alike) if (retried.has(job.id)) await resolved(host, job, { by, reason });
  }
  return refs.map(({ id }) => results.get(id) ?? "missing");
}

function changed(
  { jobs }: ExtensionHost,
  { action, how }: OperationRecord,
  call: {
    readonly target: { readonly ids: readonly IdRef[] };
    readonly attempts: number;
    readonly why: { readonly reason: string | null; readonly by: string };
  },
): Promise<{ readonly changes: readonly Change[] }> {
  const { target, attempts, why } = call;
  const due = { delayMs: how.delayMs ?? 0, runAt: null };
  switch (action) {
    case "retry":
      return jobs.revive(target, { ...due, attempts }, why);
    case "cancel":
      return jobs.cancel(target, why);
    case "remove":
      return jobs.remove(target, why);
    case "reschedule":
      return jobs.reschedule(target, due, why);
    case "erase":
      throw new Error("an erasure has no ids");
  }
}

/** A retry gives each job what its contract gives, or so many. */
function byAttempts(
  host: ExtensionHost,
  { action, how }: OperationRecord,
  jobs: readonly StoredJob[],
): { readonly jobs: readonly StoredJob[]; readonly attempts: number }[] {
  if (jobs.length === 0) return [];
  const { attempts = 1 } = how;
  if (action !== "retry" || attempts !== "full") {
    return [{ jobs, attempts: attempts === "full" ? 1 : attempts }];
  }
  const groups = new Map<number, StoredJob[]>();
  for (const job of jobs) {
    const full = host.attemptsOf(job.type);
    groups.set(full, [...(groups.get(full) ?? []), job]);
  }
  return [...groups].map(([full, alike]) => ({ jobs: alike, attempts: full }));
}

/** The job is retried: a ledger that is away is no reason to stop. */
async function resolved(
  host: ExtensionHost,
  job: Pick<StoredJob, "id" | "attempts">,
  why: { readonly by: string | null; readonly reason: string | null },
): Promise<void> {
  if (!host.hasLedger) return;
  try {
    await resolveEntries(host, job, why);
  } catch (error) {
    host.logger.warn(`the failures of job ${job.id} could not be marked resolved`, { error });
  }
}

/** Looks what became of the jobs that were retried, a chunk a turn; stops what fails too often. */
async function watched(host: ExtensionHost, current: Versioned): Promise<Versioned | null> {
  const { operation, version } = current;
  if (operation.action !== "retry" || operation.next === 0) return current;
  const chunks = Math.ceil(operation.next / CHUNK);
  const chunk = Math.floor(host.runtime.monotonic() / EVERY_MS) % chunks;
  const refs = await readChunk(host.records, operation.id, chunk);
  const jobs = await host.jobs.get(refs.slice(0, operation.next - chunk * CHUNK));
  const of = (status: string) =>
    jobs.filter((job) => typeof job === "object" && job?.status === status).length;
  // What is gone has succeeded: only finished jobs are pruned, and dead ones much later.
  const known = [of("succeeded") + jobs.filter(isGone).length, of("dead")] as const;
  const before = operation.outcomes[chunk] ?? [0, 0];
  if (before[0] === known[0] && before[1] === known[1]) return current;
  const outcomes = Array.from({ length: chunks }, (_, at) =>
    at === chunk ? known : (operation.outcomes[at] ?? ([0, 0] as const)),
  );
  const told: OperationRecord = { ...operation, outcomes };
  if (!failsTooOften(told)) return writeOperation(host.records, told, version);
  const now = await host.jobs.now();
  const end = { state: "stopped", endedAt: now, resumedAt: null, told: false } as const;
  const written = await writeOperation(host.records, { ...told, ...end }, version);
  if (written !== null) await tell(host, written);
  return null;
}

async function settling(host: ExtensionHost, current: Versioned, now: number): Promise<boolean> {
  const latest = await watched(host, current);
  if (latest === null) return true;
  const { operation, version } = latest;
  const { succeeded, failedAgain } = outcomesOf(operation);
  const isKnown = succeeded + failedAgain >= operation.done + operation.missing;
  if (!isKnown && now - (operation.endedAt ?? now) < SETTLING_MS) return true;
  const finished: OperationRecord = { ...operation, state: "finished", told: false };
  const written = await writeOperation(host.records, finished, version);
  if (written !== null) await tell(host, written);
  return false;
}

function ended(operation: OperationRecord, now: number): OperationRecord {
  const state = operation.action === "retry" && operation.done > 0 ? "settling" : "finished";
  return { ...operation, state, endedAt: now, resumedAt: null, told: false };
}

/** Its entry has an id of its own, so that a second one is the same. */
async function tell(host: ExtensionHost, { operation, version }: Versioned): Promise<void> {
  const { id, action, state, filter, count, done, refused, missing, by, reason } = operation;
  const details = { operation: id, what: action, filter, count, done, refused, missing };
  const { entries, locks } = operation.erase ?? {};
  const erasure = operation.erase && { entries, locks };
  const outcome = { ...details, ...outcomesOf(operation), ...erasure };
  host.logger.info(`operation ${id} (${action}) is ${state}`, {
    type: "OPERATION",
    state,
    ...outcome,
  });
  const entry = derivedUuid("operation", id, state);
  await host.audit({ action: `operation ${state}`, by, reason, details: outcome }, { id: entry });
  await writeOperation(host.records, { ...operation, told: true }, version);
}

function isGone(job: StoredJob | "pruned" | null | undefined): job is "pruned" | null | undefined {
  return job === null || job === undefined || job === "pruned";
}
