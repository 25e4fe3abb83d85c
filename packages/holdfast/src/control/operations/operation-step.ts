/**
 * One step of an operation: its next ids are claimed in the record, dealt with, and written down. A process that
 * dies in the midst of it costs that step: the next one finds by the mark on each job which of its ids were dealt
 * with already.
 */
import type { StoredJob } from "../../core/job.ts";
import { operationMark } from "../../core/lineage.ts";
import type { Change } from "../../core/store.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { resolveEntries } from "../failures/resolve-entries.ts";
import { CHUNK, isGone, type IdRef, type OperationRecord } from "./operation.ts";
import { readChunk, readOperation, writeOperation, type Versioned } from "./operation-records.ts";
import { ended, tell } from "./tell-operation.ts";

/** Deals with the next ids. Null: another process has it now, or a person stopped it. */
export async function step(
  host: ExtensionHost,
  { operation, version }: Versioned,
  turn: { readonly size: number; readonly now: number; readonly isStale: () => boolean },
): Promise<Versioned | null> {
  const { size, isStale } = turn;
  const { next, id } = operation;
  const chunk = Math.floor(next / CHUNK);
  const inChunk = await readChunk(host.records, id, chunk);
  const refs = inChunk.slice(next % CHUNK, (next % CHUNK) + size);
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
    gone: Array.from(
      { length: chunk + 1 },
      (_, one) => (operation.gone?.[one] ?? 0) + (one === chunk ? counts.missing : 0),
    ),
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
  const { id, next, carrier, done, refused, missing, gone } = after;
  const counts = { done, refused, missing, ...(gone && { gone }) };
  for (;;) {
    const found = await readOperation(host.records, id);
    const isOurs =
      found?.operation.carrier?.id === carrier?.id && found?.operation.step?.to === next;
    // Else another process has repeated the step, and has counted.
    if (!found || !isOurs) return;
    const counted = { ...found.operation, ...counts, next, step: null };
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
