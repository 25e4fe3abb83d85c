/** From loose lines to stories: what became of each process, each lease and each run of a job. */
import type { AttemptRecord, StoredJob } from "../../../src/core/job.ts";
import type { OutcomeKind } from "../../../src/core/outcome.ts";
import type { FenceRef, WitnessLine } from "../witness.ts";

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface ProcessStory {
  readonly name: string;
  readonly role: "worker" | "producer";
  /** What the store calls its worker. */
  worker: string | null;
  upAt: number | null;
  concurrency: number;
  killedAt: number | null;
  terminatedAt: number | null;
  exitedAt: number | null;
  exit: { readonly code: number | null; readonly signal: string | null } | null;
  readonly stops: Span[];
  /** Its event loop stood still, or a call to the store took long. */
  readonly stalls: Span[];
}

export interface Lease extends FenceRef {
  readonly by: string;
  readonly askedAt: number;
  readonly at: number;
  /** When the newest lease or renewal that the store granted was asked for. */
  heldFrom: number;
  /** When each kept renewal was asked for. */
  readonly renewedAt: number[];
  refusedRenewals: number;
  /** When somebody saw that it had run out, and put the job back. */
  reapedAt: number | null;
  settle: {
    readonly kind: OutcomeKind;
    /** When it was first sent: a repeat after a lost reply is the same settle. */
    readonly sentAt: number;
    /** Null: nobody saw an answer. */
    answer: "settled" | "lost" | null;
  } | null;
}

export interface Run extends FenceRef {
  readonly by: string;
  readonly key: string;
  readonly type: string;
  readonly startAt: number;
  /** By the checkpoint it started from. */
  readonly row: number;
  endAt: number | null;
  how: "returned" | "threw" | "aborted" | null;
}

/** One job as the witnesses and the store know it. By fence: oldest first. */
export interface JobStory {
  readonly id: string;
  readonly leases: Lease[];
  readonly runs: Run[];
  readonly stored: StoredJob | null;
}

export interface Evidence {
  readonly lines: readonly WitnessLine[];
  readonly leaseMs: number;
  readonly processes: ReadonlyMap<string, ProcessStory>;
  /** By id. */
  readonly jobs: ReadonlyMap<string, JobStory>;
  /** Nobody could write to the store. */
  readonly unwritable: readonly Span[];
}

export function gatherEvidence(
  lines: readonly WitnessLine[],
  { stored, leaseMs }: { readonly stored: readonly StoredJob[]; readonly leaseMs: number },
): Evidence {
  const sorted = [...lines].sort((a, b) => a.at - b.at);
  return {
    lines: sorted,
    leaseMs,
    processes: processStories(sorted, leaseMs),
    jobs: jobStories(sorted, stored),
    unwritable: sorted.flatMap((line) =>
      line.what === "unwritable" ? [{ from: line.from, to: line.at }] : [],
    ),
  };
}

function processStories(
  lines: readonly WitnessLine[],
  leaseMs: number,
): ReadonlyMap<string, ProcessStory> {
  const stories = new Map<string, ProcessStory>();
  const stoppedAt = new Map<string, number>();
  for (const line of lines) {
    if (line.what === "began") {
      const { to: name, role } = line;
      stories.set(name, { name, role, ...UNTOLD, stops: [], stalls: [] });
      continue;
    }
    const story = stories.get("to" in line ? line.to : line.by);
    if (!story) continue;
    if ("askedAt" in line && line.at - line.askedAt > leaseMs / 10) {
      story.stalls.push({ from: line.askedAt, to: line.at });
    }
    switch (line.what) {
      case "named":
        story.worker = line.worker;
        break;
      case "up":
        story.upAt = line.at;
        story.concurrency = line.concurrency;
        break;
      case "stalled":
        story.stalls.push({ from: line.from, to: line.at });
        break;
      case "kill":
        story.killedAt = line.at;
        break;
      case "terminate":
        story.terminatedAt = line.at;
        break;
      case "stop":
        stoppedAt.set(line.to, line.at);
        break;
      case "continue":
        story.stops.push({ from: stoppedAt.get(line.to) ?? line.at, to: line.at });
        break;
      case "exited":
        story.exitedAt = line.at;
        story.exit = { code: line.code, signal: line.signal };
        break;
      default:
    }
  }
  return stories;
}

const UNTOLD = {
  worker: null,
  upAt: null,
  concurrency: 0,
  killedAt: null,
  terminatedAt: null,
  exitedAt: null,
  exit: null,
};

function jobStories(
  lines: readonly WitnessLine[],
  stored: readonly StoredJob[],
): ReadonlyMap<string, JobStory> {
  const jobs = new Map<string, JobStory>();
  const leases = new Map<string, Lease>();
  const runs = new Map<string, Run>();
  /** From a process to what the store calls its worker. */
  const workers = new Map<string, string>();
  const refOf = ({ id, fence }: FenceRef) => `${id}:${fence}`;
  const storyOf = (id: string): JobStory => {
    let story = jobs.get(id);
    if (!story) jobs.set(id, (story = { id, leases: [], runs: [], stored: null }));
    return story;
  };
  for (const job of stored) jobs.set(job.id, { id: job.id, leases: [], runs: [], stored: job });

  for (const line of lines) {
    const { at, by } = line;
    switch (line.what) {
      case "named":
        workers.set(by, line.worker);
        break;
      case "leased":
        for (const { id, fence } of line.jobs) {
          const { askedAt } = line;
          const timing = { askedAt, at, heldFrom: askedAt, renewedAt: [] };
          const untold = { refusedRenewals: 0, reapedAt: null, settle: null };
          const lease: Lease = { id, fence, by, ...timing, ...untold };
          leases.set(refOf(lease), lease);
          storyOf(id).leases.push(lease);
        }
        break;
      case "renewed":
        for (const ref of line.kept) {
          const lease = leases.get(refOf(ref));
          if (!lease) continue;
          lease.heldFrom = Math.max(lease.heldFrom, line.askedAt);
          lease.renewedAt.push(line.askedAt);
        }
        for (const ref of line.lost) {
          const lease = leases.get(refOf(ref));
          if (lease) lease.refusedRenewals += 1;
        }
        break;
      case "reaped":
        for (const { id, worker } of line.jobs) {
          const lease = jobs.get(id)?.leases.findLast((one) => workers.get(one.by) === worker);
          if (lease) lease.reapedAt ??= at;
        }
        break;
      case "settling":
        for (const ref of line.jobs) {
          const lease = leases.get(refOf(ref));
          if (lease) lease.settle ??= { kind: ref.kind, sentAt: at, answer: null };
        }
        break;
      case "settled":
        for (const ref of line.jobs) {
          const lease = leases.get(refOf(ref));
          if (lease?.settle) lease.settle.answer = ref.answer;
        }
        break;
      case "start": {
        const { id, fence, key, type, row } = line;
        const run: Run = { id, fence, by, key, type, startAt: at, row, endAt: null, how: null };
        runs.set(refOf(run), run);
        storyOf(id).runs.push(run);
        break;
      }
      case "end": {
        const run = runs.get(refOf(line));
        if (run) [run.endAt, run.how] = [at, line.how];
        break;
      }
      default:
    }
  }
  for (const story of jobs.values()) {
    story.leases.sort((a, b) => a.fence - b.fence);
    story.runs.sort((a, b) => a.fence - b.fence);
  }
  return jobs;
}

export function leaseOf(job: JobStory, fence: number): Lease | undefined {
  return job.leases.find((lease) => lease.fence === fence);
}

export function recordOf(job: JobStory, fence: number): AttemptRecord | undefined {
  return job.stored?.history.find((record) => record.fence === fence);
}

export function overlaps(span: Span, other: Span): boolean {
  return span.from <= other.to && other.from <= span.to;
}

/** How a finding names a job. */
export function nameOf(job: JobStory): string {
  const key = keyOf(job);
  return key === null ? job.id : `${key} (${job.id})`;
}

export function keyOf({ runs, stored }: JobStory): string | null {
  if (runs[0]) return runs[0].key;
  return stored === null ? null : (JSON.parse(stored.payload) as { key: string }).key;
}

/** Something that must not be. */
export interface Finding {
  readonly rule: Rule;
  readonly text: string;
}

export type Rule =
  | "lost"
  | "unexpected"
  | "duplicated, unexplained"
  | "overlapping, unexplained"
  | "stale accepted"
  | "two holders"
  | "steps and saves forgotten"
  | "counters wrong"
  | "recovered too late"
  | "processes at fault"
  | "store damaged";
