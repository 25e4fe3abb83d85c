/**
 * One step of an operation: its next ids are claimed in the record, dealt with, and written down. A process that
 * dies in the midst of it costs that step: the next one finds by the mark on each job which of its ids were dealt
 * with already.
 */
import type { StoredJob } from "../../core/job.ts";
import { operationMark } from "../../core/lineage.ts";
import type { Change } from "../../core/store.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import type { FailureMarks } from "./failure-marks.ts";
import { CHUNK, isGone, type IdRef, type OperationRecord, type Unmarked } from "./operation.ts";
import { readChunk, readOperation, writeOperation, type Versioned } from "./operation-records.ts";
import { ended, tell } from "./tell-operation.ts";

export interface Turn {
  /** How many ids. */
  readonly size: number;
  readonly now: number;
  /** This process was away for too long. */
  readonly isStale: () => boolean;
  readonly marks: FailureMarks;
}

/** Deals with the next ids. Null: another process has it now, or a person stopped it. */
export async function step(
  host: ExtensionHost,
  { operation, version }: Versioned,
  { size, now, isStale, marks }: Turn,
): Promise<Versioned | null> {
  const { next, id } = operation;
  const chunk = Math.floor(next / CHUNK);
  const inChunk = await readChunk(host.records, id, chunk);
  const refs = inChunk.slice(next % CHUNK, (next % CHUNK) + size);
  const jobs = await host.jobs.get(refs);
  const isRepeat = operation.step?.from === next && operation.step.to === next + refs.length;
  const goneNow = jobs.filter(isGone).length;
  const gone = isRepeat ? (operation.step?.gone ?? 0) : goneNow;
  const at = isRepeat ? operation.step?.at : now;
  const begun = { ...operation, step: { from: next, to: next + refs.length, gone, at } };
  const claimed = await writeOperation(host.records, begun, version);
  if (claimed === null) return null;
  const since = (isRepeat ? at : undefined) ?? Infinity;
  const applied = await apply(host, operation, { refs, jobs, since, isStale });
  if (applied === null) return null;
  const { results, retried } = applied;
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
    unmarked: marks.added(operation.unmarked ?? [], retried),
    step: null,
  };
  const isLast = after.next >= after.count || refs.length === 0;
  const endedAt = await host.jobs.now();
  const written: OperationRecord = isLast ? ended(after, endedAt) : after;
  const done = await writeOperation(host.records, written, claimed.version);
  if (done === null) await countBeside(host, after, marks);
  else if (isLast && written.state === "finished") await tell(host, done);
  return done;
}

/** A person paused or aborted it during this step: what the step did counts all the same. */
async function countBeside(
  host: ExtensionHost,
  after: OperationRecord,
  marks: FailureMarks,
): Promise<void> {
  const { id, next, carrier, done, refused, missing, gone, unmarked } = after;
  const counts = { done, refused, missing, ...(gone && { gone }), ...(unmarked && { unmarked }) };
  for (;;) {
    const found = await readOperation(host.records, id);
    const isOurs =
      found?.operation.carrier?.id === carrier?.id && found?.operation.step?.to === next;
    // Else another process has repeated the step, and has counted.
    if (!found || !isOurs) return;
    const counted = { ...found.operation, ...counts, next, step: null };
    const written = await writeOperation(host.records, counted, found.version);
    if (written === null) continue;
    // One that was aborted is carried on by no process.
    await marks.mark(written);
    return;
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
): Promise<{ readonly results: Result[]; readonly retried: readonly Unmarked[] } | null> {
  const { refs, jobs, since, isStale } = step;
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
  // Its process may have died before it wrote down that their failures are to be marked.
  const retried = byAttempts(host, operation, retriedBefore).flatMap(({ jobs: alike, attempts }) =>
    alike.map(({ id, maxAttempts }): Unmarked => [id, maxAttempts - attempts]),
  );
  const why = { reason: operation.reason, by: mark };
  for (const { jobs: alike, attempts } of byAttempts(host, operation, waiting)) {
    if (isStale()) return null;
    const target = { ids: alike.map(({ id, queue }) => ({ id, queue })) };
    const { changes } = await changed(host, operation, { target, attempts, why });
    for (const { id, result } of changes) results.set(id, result === "asked" ? "done" : result);
    if (operation.action !== "retry") continue;
    const done = new Set(changes.filter(({ result }) => result === "done").map(({ id }) => id));
    for (const job of alike) if (done.has(job.id)) retried.push([job.id, job.attempts]);
  }
  return { results: refs.map(({ id }) => results.get(id) ?? "missing"), retried };
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
