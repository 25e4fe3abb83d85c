/** What became of the jobs that a replay retried: it stops by itself if too many fail again, and ends once it knows. */
import type { ExtensionHost } from "../../engine/extension.ts";
import { CHUNK, failsTooOften, isGone, outcomesOf, type OperationRecord } from "./operation.ts";
import { readChunk, writeOperation, type Versioned } from "./operation-records.ts";
import { tell } from "./tell-operation.ts";

/** Another chunk is looked at each second. */
const EVERY_MS = 1_000;
/** Outcomes that are not known after this are not waited for. */
const SETTLING_MS = 10 * 60_000;

/** Looks what became of the jobs that were retried, a chunk a turn; stops what fails too often. */
export async function watched(host: ExtensionHost, current: Versioned): Promise<Versioned | null> {
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

export async function settling(
  host: ExtensionHost,
  current: Versioned,
  now: number,
): Promise<boolean> {
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
