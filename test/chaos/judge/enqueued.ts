/**
 * What was enqueued against what is there after the drain: the multisets of a queue checker.
 *
 * - lost: acknowledged, and not there, not finished, or finished without a run that ended well
 * - recovered: never acknowledged, and there all the same; nobody was told, so both are right
 * - unexpected: there, and nobody has tried to enqueue it; or there twice; or there although the
 *   caller was told that it surely is not
 *
 * Jobs that a job spawned are there exactly if that attempt of their parent is the one that counts.
 */
import type { StoredJob } from "../../../packages/holdfast/src/core/job.ts";
import { CHILDREN, mayDieOf, parentOfKey, spawning, type ChaosResult } from "../contracts.ts";
import { keyOf, nameOf, type Evidence, type Finding, type JobStory } from "./evidence.ts";

export interface Enqueued {
  readonly tried: number;
  readonly acknowledged: number;
  readonly recovered: number;
  /** Tried again after no answer, or a refusal. */
  readonly repeated: number;
  /** Never acknowledged and not there. */
  readonly absent: number;
  readonly spawned: number;
  readonly succeeded: number;
  readonly dead: number;
  readonly findings: readonly Finding[];
}

interface Tried {
  readonly ids: Set<string>;
  /** Tries that were not answered with "surely nothing was stored". */
  open: number;
  tries: number;
}

export function judgeEnqueued(evidence: Evidence): Enqueued {
  const findings: Finding[] = [];
  const lost = (text: string) => findings.push({ rule: "lost", text });
  const unexpected = (text: string) => findings.push({ rule: "unexpected", text });

  const tried = triedKeys(evidence);
  const byKey = new Map<string, JobStory>();
  for (const job of evidence.jobs.values()) {
    if (job.stored === null) {
      if (job.runs.length > 0) unexpected(`${nameOf(job)} ran, and the store does not know it`);
      continue;
    }
    const key = keyOf(job)!;
    const other = byKey.get(key);
    if (other) unexpected(`${key} is there twice: ${other.id} and ${job.id}`);
    byKey.set(key, job);
  }

  let spawned = 0;
  for (const [key, job] of byKey) {
    const parent = parentOfKey(key);
    if (parent) {
      spawned += 1;
      const winner = resultOf(byKey.get(parent.parent)?.stored ?? null);
      if (winner?.fence !== parent.fence) {
        unexpected(`${nameOf(job)} was spawned by an attempt that did not succeed`);
      }
    } else if (!tried.has(key)) {
      unexpected(`${nameOf(job)} is there, and nobody tried to enqueue it`);
    } else if (tried.get(key)!.open === 0) {
      unexpected(`${nameOf(job)} is there, and its producer was told that it surely is not`);
    }
    for (const why of endsBadly(job)) lost(`${nameOf(job)} ${why}`);
    if (job.stored?.type === spawning.type && job.stored.status === "succeeded") {
      for (const child of missingChildren(job.stored, byKey)) {
        lost(`${child} should have been stored with the success of its parent`);
      }
    }
  }

  let acknowledged = 0;
  let recovered = 0;
  let absent = 0;
  for (const [key, { ids }] of tried) {
    const job = byKey.get(key);
    if (ids.size === 0) {
      if (job) recovered += 1;
      else absent += 1;
      continue;
    }
    acknowledged += 1;
    if (!job) lost(`${key} was acknowledged and is not there`);
    else if (ids.size > 1 || !ids.has(job.id)) {
      unexpected(`${key} was acknowledged as ${[...ids].join(" and ")} and is there as ${job.id}`);
    }
  }
  const statuses = [...evidence.jobs.values()].map((job) => job.stored?.status);
  return {
    tried: tried.size,
    ...{ acknowledged, recovered, absent, spawned },
    repeated: [...tried.values()].filter(({ tries }) => tries > 1).length,
    succeeded: statuses.filter((status) => status === "succeeded").length,
    dead: statuses.filter((status) => status === "dead").length,
    findings,
  };
}

function triedKeys({ lines }: Evidence): ReadonlyMap<string, Tried> {
  const tried = new Map<string, Tried>();
  for (const line of lines) {
    if (line.what === "try") {
      const known = tried.get(line.key);
      if (known) {
        known.open += 1;
        known.tries += 1;
      } else tried.set(line.key, { ids: new Set(), open: 1, tries: 1 });
    } else if (line.what === "acknowledged") {
      tried.get(line.key)?.ids.add(line.id);
    } else if (line.what === "refused" && !line.mayHaveHappened) {
      tried.get(line.key)!.open -= 1;
    }
  }
  return tried;
}

/** Everything that is wrong with how a job ended. */
function endsBadly(job: JobStory): string[] {
  const { stored, runs } = job;
  if (stored === null) return [];
  switch (stored.status) {
    case "succeeded": {
      const fence = resultOf(stored)?.fence;
      const run = runs.find((one) => one.fence === fence);
      // In a transaction of its own a handler settles before it returns, and may be killed in between.
      if (run?.how === "returned" || run?.settlesWithin === true) return [];
      return ["has succeeded, and no handler returned the stored result"];
    }
    case "dead": {
      const reason = stored.reason ?? "no reason";
      if (!mayDieOf(stored.type).includes(reason)) return [`is dead, reason ${reason}`];
      return reason === "poison" && stored.crashes < 3
        ? [`is dead as poison after ${stored.crashes} crashes`]
        : [];
    }
    case "cancelled":
      return ["is cancelled, and nobody asked for it"];
    case "queued":
    case "processing":
      return [`is still ${stored.status}`];
  }
}

function missingChildren(parent: StoredJob, byKey: ReadonlyMap<string, JobStory>): string[] {
  const { key } = JSON.parse(parent.payload) as { key: string };
  const fence = resultOf(parent)?.fence;
  const wanted = Array.from({ length: CHILDREN }, (_, child) => `${key}/${fence}/${child}`);
  return wanted.filter((child) => !byKey.has(child));
}

export function resultOf(stored: StoredJob | null): ChaosResult | null {
  return stored === null || stored.result === null
    ? null
    : (JSON.parse(stored.result) as ChaosResult);
}
