/** What the store counts must be what happened: attempts, crashes, and who is charged for them. */
import { HISTORY_LENGTH, type AttemptRecord } from "../../../packages/holdfast/src/core/job.ts";
import { causeOf } from "./cause.ts";
import { leaseOf, nameOf, type Evidence, type Finding, type JobStory } from "./evidence.ts";
import { firstNameOf, type ProcessStory } from "./process-story.ts";

export interface Counters {
  readonly crashes: number;
  readonly findings: readonly Finding[];
}

export interface CountersOptions {
  readonly forgiveStalls: boolean;
}

export function judgeCounters(evidence: Evidence, options: CountersOptions): Counters {
  const findings: Finding[] = [];
  const byWorker = new Map<string, ProcessStory>();
  for (const process of evidence.processes.values()) {
    if (process.worker !== null) byWorker.set(process.worker, process);
  }
  let crashes = 0;
  for (const job of evidence.jobs.values()) {
    crashes += job.stored?.crashes ?? 0;
    const wrong = [...miscounted(job), ...blameless(evidence, job, { byWorker, ...options })];
    for (const text of wrong) {
      findings.push({ rule: "counters wrong", text: `${nameOf(job)} ${text}` });
    }
  }
  return { crashes, findings };
}

function miscounted({ stored, runs }: JobStory): string[] {
  if (stored === null) return [];
  const { attempts, maxAttempts, crashes, history, status } = stored;
  const found: string[] = [];
  if (attempts > maxAttempts) found.push(`has ${attempts} attempts of ${maxAttempts}`);
  const fences = history.map(({ fence }) => fence);
  if (new Set(fences).size < fences.length) found.push("has two records of one attempt");
  if (fences.some((fence, at) => fence < (fences[at - 1] ?? 0)))
    found.push("has a fence that fell");
  // Older records are gone: nothing can be added up.
  if (history.length >= HISTORY_LENGTH) return found;
  const crashed = history.filter(({ outcome }) => outcome === "crashed").length;
  if (crashed !== crashes) found.push(`counts ${crashes} crashes and records ${crashed}`);
  // A success at the first attempt leaves no record, and one that still runs has none yet.
  const isUnrecorded = status === "processing" || (status === "succeeded" && attempts === 1);
  const records = history.length + (isUnrecorded ? 1 : 0);
  // A lease that only ends a job whose attempts are used up may crash as well, and spends none.
  const spent = Math.min(records, maxAttempts);
  if (attempts !== spent) found.push(`counts ${attempts} attempts and records ${spent}`);
  if (status === "succeeded" && runs.length > 0 && attempts < 1) found.push("ran in no attempt");
  return found;
}

/** A crash that is charged to a worker that nobody had disturbed; also to one that stopped gracefully. */
function blameless(
  evidence: Evidence,
  job: JobStory,
  options: CountersOptions & { readonly byWorker: ReadonlyMap<string, ProcessStory> },
): string[] {
  const found: string[] = [];
  for (const record of job.stored?.history ?? []) {
    if (record.outcome !== "crashed") continue;
    const process = options.byWorker.get(firstNameOf(record.worker));
    const cause = process ? crashCause(evidence, job, record, process) : null;
    const isForgiven = cause === "stall" ? options.forgiveStalls : cause !== null;
    if (!isForgiven) {
      found.push(`is charged a crash of ${process?.name ?? record.worker}, which did not crash`);
    }
  }
  return found;
}

function crashCause(
  evidence: Evidence,
  job: JobStory,
  { fence }: AttemptRecord,
  { name: by }: ProcessStory,
) {
  const lease = leaseOf(job, fence);
  // From the question on: a worker that was stopped hears the answer when others have the job already.
  // No witness: the reply to this lease never arrived, so its time is unknown.
  const from = lease?.askedAt ?? 0;
  const to = job.leases.find((one) => one.fence > fence)?.at ?? Infinity;
  const cause = causeOf(evidence, job, { id: job.id, fence, by, span: { from, to } });
  return cause === "failed" || cause === "given back" ? null : cause;
}
