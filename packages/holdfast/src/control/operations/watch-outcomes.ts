/** What became of the jobs that a replay retried: it stops by itself if too many fail again, and ends once it knows. */
import type { JobStatus } from "../../core/job.ts";
import { operationMark } from "../../core/lineage.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { lookAtJobs } from "../jobs/look-at-jobs.ts";
import {
  CHUNK,
  failsTooOften,
  isGone,
  isKnown,
  type IdRef,
  type OperationRecord,
  type Outcomes,
} from "./operation.ts";
import { readChunk, writeOperation, type Versioned } from "./operation-records.ts";
import { tell } from "./tell-operation.ts";

/** Another chunk is looked at each second. */
const EVERY_MS = 1_000;
/** Outcomes that are not known after this are not waited for, and a ledger that does not answer is not, either. */
const SETTLING_MS = 10 * 60_000;
const NOTHING: Outcomes = [0, 0, 0];

/** Looks what became of the jobs that were retried, a chunk a turn; stops what fails too often. */
export async function watched(host: ExtensionHost, current: Versioned): Promise<Versioned | null> {
  const { operation, version } = current;
  if (operation.action !== "retry" || operation.next === 0) return current;
  const chunks = Math.ceil(operation.next / CHUNK);
  const chunk = Math.floor(host.runtime.monotonic() / EVERY_MS) % chunks;
  const refs = await readChunk(host.records, operation.id, chunk);
  const ours = refs.slice(0, operation.next - chunk * CHUNK);
  const known = await outcomesAmong(host, ours, { operation, chunk });
  const before = operation.outcomes[chunk] ?? NOTHING;
  if (known.every((count, at) => count === before[at])) return current;
  const outcomes = Array.from({ length: chunks }, (_, at) =>
    at === chunk ? known : (operation.outcomes[at] ?? NOTHING),
  );
  const told: OperationRecord = { ...operation, outcomes };
  if (!failsTooOften(told)) return writeOperation(host.records, told, version);
  const now = await host.jobs.now();
  const end = { state: "stopped", endedAt: now, resumedAt: null, told: false } as const;
  const written = await writeOperation(host.records, { ...told, ...end }, version);
  if (written !== null) await tell(host, written);
  return null;
}

/** A job that this operation was refused, or that a person has changed since, says nothing of it. */
async function outcomesAmong(
  host: Pick<ExtensionHost, "jobs">,
  refs: readonly IdRef[],
  { operation, chunk }: { readonly operation: OperationRecord; readonly chunk: number },
): Promise<Outcomes> {
  const mark = operationMark(operation);
  const seen = await lookAtJobs(host, refs, (job) =>
    isGone(job) ? "gone" : job.by === mark && job.status,
  );
  const of = (how: JobStatus | "gone") => seen.filter((one) => one === how).length;
  // What is gone since has succeeded: only finished jobs are pruned, and dead ones much later.
  const goneSince = Math.max(0, of("gone") - (operation.gone?.[chunk] ?? 0));
  const open = of("queued") + of("processing");
  return [of("succeeded") + goneSince, of("dead"), seen.length - open];
}

export async function settling(
  host: ExtensionHost,
  current: Versioned,
  now: number,
): Promise<boolean> {
  const latest = await watched(host, current);
  if (latest === null) return true;
  const { operation, version } = latest;
  const isInTime = now - (operation.endedAt ?? now) < SETTLING_MS;
  const isMarked = (operation.unmarked ?? []).length === 0;
  if (isInTime && !(isKnown(operation) && isMarked)) return true;
  const finished: OperationRecord = { ...operation, state: "finished", told: false };
  const written = await writeOperation(host.records, finished, version);
  if (written !== null) await tell(host, written);
  return false;
}
