/** From loose lines to stories: what became of each process, of the store, and of each job. */
import type { AttemptRecord, StoredJob } from "../../../packages/holdfast/src/core/job.ts";
import type { OutcomeKind } from "../../../packages/holdfast/src/core/outcome.ts";
import type { FenceRef, OutageKind, SlotOutage, WitnessLine } from "../witness.ts";
import { firstNameOf, processStories, type ProcessStory } from "./process-story.ts";
import type { Span } from "./span.ts";

/** Nobody could reach the store. Somebody may have, from `healingAt` on. */
export interface Outage extends Span {
  readonly healingAt: number;
  readonly how: OutageKind;
  readonly slots?: readonly SlotOutage[];
}

export interface Lease extends FenceRef {
  readonly by: string;
  readonly askedAt: number;
  readonly at: number;
  /** When the newest lease or renewal that the store granted was asked for. */
  heldFrom: number;
  /** Each kept renewal, from when it was asked for to when the answer was there. */
  readonly renewals: Span[];
  refusedRenewals: number;
  /** When somebody saw that it had run out, and put the job back. */
  reapedAt: number | null;
  settle: {
    readonly kind: OutcomeKind;
    /** When it was first sent: a repeat after a lost reply is the same settle. */
    readonly sentAt: number;
    /** Null: nobody saw an answer. */
    answer: "settled" | "lost" | null;
    answeredAt: number | null;
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
  /** It may have left a transaction open that has the job. */
  isWithin?: true;
  /** It asked to settle before it had ended: in a transaction of its own. */
  settlesWithin?: true;
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
  readonly outages: readonly Outage[];
  /** From a clock on the wall, as a fence is, to the clock of the witnesses; null if nobody looked. */
  readonly wallOffsetMs: number | null;
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
    outages: sorted.flatMap((line) => {
      if (line.what !== "outage") return [];
      const { from, healingAt, how, slots, at: to } = line;
      return [{ from, to, healingAt, how, ...(slots && { slots }) }];
    }),
    wallOffsetMs: wallOffset(sorted),
  };
}

function wallOffset(lines: readonly WitnessLine[]): number | null {
  const line = lines.find(({ what }) => what === "clock");
  return line?.what === "clock" ? line.at - line.wallMs : null;
}

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
          const timing = { askedAt, at, heldFrom: askedAt, renewals: [] };
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
          lease.renewals.push({ from: line.askedAt, to: at });
        }
        for (const ref of line.lost) {
          const lease = leases.get(refOf(ref));
          if (lease) lease.refusedRenewals += 1;
        }
        break;
      case "reaped":
        for (const { id, worker } of line.jobs) {
          const name = firstNameOf(worker);
          const lease = jobs.get(id)?.leases.findLast((one) => workers.get(one.by) === name);
          if (lease) lease.reapedAt ??= at;
        }
        break;
      case "within": {
        const run = runs.get(refOf(line));
        if (run) run.isWithin = true;
        break;
      }
      case "settling":
        for (const ref of line.jobs) {
          const run = runs.get(refOf(ref));
          if (run && run.endAt === null && ref.kind === "succeed") run.settlesWithin = true;
          const lease = leases.get(refOf(ref));
          if (lease)
            lease.settle ??= { kind: ref.kind, sentAt: at, answer: null, answeredAt: null };
        }
        break;
      case "settled":
        for (const ref of line.jobs) {
          const lease = leases.get(refOf(ref));
          // What was answered counts, not what was tried before it in a transaction that did not commit.
          const answered = { kind: ref.kind, answer: ref.answer, answeredAt: at };
          if (lease?.settle) Object.assign(lease.settle, answered);
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

/** When the newest lease or renewal of which its holder knew by then was asked for. */
export function heldFromAt({ askedAt, renewals }: Lease, at: number): number {
  return Math.max(askedAt, ...renewals.filter(({ to }) => to < at).map(({ from }) => from));
}

/** How long a worker trusts a lease after it has asked for it. */
export function trustedMs(leaseMs: number): number {
  return leaseMs - Math.min(1_000, leaseMs / 10);
}

/** When its holder, by its own clock, could not trust it any more. */
export function lastTrusted({ askedAt, renewals }: Lease, leaseMs: number): number {
  let heldFrom = askedAt;
  for (const { from, to } of [...renewals].sort((a, b) => a.to - b.to)) {
    if (to > heldFrom + trustedMs(leaseMs)) break;
    heldFrom = Math.max(heldFrom, from);
  }
  return heldFrom + trustedMs(leaseMs);
}

export function recordOf(job: JobStory, fence: number): AttemptRecord | undefined {
  return job.stored?.history.find((record) => record.fence === fence);
}

/**
 * A settle whose answer was never seen may have been done: its process died on the way. So may one that
 * was asked for again too late: a store remembers the last settle of a job, and that was another by then.
 */
export function wasSettledBefore(job: JobStory, { fence, settle }: Lease, at: number): boolean {
  if (settle === null || settle.sentAt > at) return false;
  if (settle.answer !== "lost") return true;
  const answeredAt = settle.answeredAt ?? Infinity;
  const isOvertaken = job.leases.some(
    (later) => later.fence > fence && later.settle !== null && later.settle.sentAt < answeredAt,
  );
  return isOvertaken && recordOf(job, fence)?.outcome !== "crashed";
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

export const RULES = [
  "lost",
  "unexpected",
  "duplicated, unexplained",
  "overlapping, unexplained",
  "stale accepted",
  "two holders",
  "repeat denied",
  "steps and saves forgotten",
  "counters wrong",
  "run twice by an outage",
  "reaped too soon",
  "recovered too late",
  "no job after a heal",
  "processes at fault",
  "store damaged",
] as const;
export type Rule = (typeof RULES)[number];
