/**
 * Whether every worker takes a new job soon after it can reach the store again. A worker that is up
 * but silent after a reconnect is the most repeated bug of job systems.
 *
 * Each was given a job of its own to take. It is excused if it was killed, stopped or cut off
 * again before its time was over, if its slots were full all the time, and while it runs a job that is
 * one crash away from poison, since until that one is trusted it leases nothing. Whoever was stopped or
 * ran such a job before it took one is not measured either.
 */
import { fragile } from "../contracts.ts";
import type { Evidence, Finding } from "./evidence.ts";
import type { ProcessStory } from "./process-story.ts";
import { lastMoment, timesOf, type Times } from "./recovery.ts";
import { overlaps, type Span } from "./span.ts";

export interface Healed {
  /** How often the store came back within reach of one or all. */
  readonly heals: number;
  /** From then until a worker took a job. */
  readonly took: Times;
  readonly excused: number;
  readonly boundMs: number;
  readonly findings: readonly Finding[];
}

const CRASHES_OF_A_SUSPECT = 2;

export function judgeHealed(evidence: Evidence, { boundMs }: { boundMs: number }): Healed {
  const findings: Finding[] = [];
  const times: number[] = [];
  let excused = 0;
  const workers = [...evidence.processes.values()].filter(({ role }) => role === "worker");
  const heals = healsOf(evidence);
  const leasedAt = leaseTimes(evidence);
  for (const { at, what } of heals) {
    const window = { from: at, to: at + boundMs };
    for (const worker of workers) {
      if (worker.upAt === null || worker.upAt > at || lastMoment(worker) < at) continue;
      const tookAt = leasedAt.get(worker.name)?.find((one) => one >= at) ?? Infinity;
      const until = { from: at, to: Math.min(tookAt, window.to) };
      if (isStill(evidence, worker, until)) excused += 1;
      else if (tookAt <= window.to) times.push(tookAt - at);
      else if (isExcused(evidence, worker, window)) excused += 1;
      else {
        const when = tookAt === Infinity ? "never" : `only ${Math.round(tookAt - at)} ms later`;
        const text = `${worker.name} took a job ${when} after ${what}`;
        findings.push({ rule: "no job after a heal", text });
        times.push(Math.min(tookAt - at, lastMoment(worker) - at));
      }
    }
  }
  return { heals: heals.length, took: timesOf(times), excused, boundMs, findings };
}

function healsOf({ outages, processes }: Evidence): { readonly at: number; what: string }[] {
  const ofAll = outages.map(({ to, how }) => ({ at: to, what: `an outage (${how})` }));
  const ofOne = [...processes.values()].flatMap(({ name, cutOffs }) =>
    cutOffs.map(({ to, how }) => ({ at: to, what: `${name} was cut off (${how})` })),
  );
  return [...ofAll, ...ofOne].sort((a, b) => a.at - b.at);
}

function leaseTimes({ lines }: Evidence): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const line of lines) {
    if (line.what !== "leased") continue;
    const known = times.get(line.by);
    if (known) known.push(line.at);
    else times.set(line.by, [line.at]);
  }
  return times;
}

function isExcused(evidence: Evidence, worker: ProcessStory, window: Span): boolean {
  const { outages } = evidence;
  if (lastMoment(worker) < window.to) return true;
  const wide = { from: 2 * window.from - window.to, to: window.to };
  if (worker.stops.some((stop) => overlaps(stop, wide))) return true;
  const isNew = (span: Span) => span.to > window.from && span.from < window.to;
  if (worker.cutOffs.some(isNew) || outages.some(isNew)) return true;
  return isFull(evidence, worker, window);
}

/** It asked for nothing for a while, whatever the store did: it was stopped, or ran what may kill it. */
function isStill({ jobs }: Evidence, { name, stops }: ProcessStory, window: Span): boolean {
  if (stops.some((stop) => overlaps(stop, window))) return true;
  for (const { runs, stored } of jobs.values()) {
    for (const { by, startAt, endAt, fence, type } of runs) {
      if (by !== name || type !== fragile.type) continue;
      if (!overlaps({ from: startAt, to: endAt ?? Infinity }, window)) continue;
      const before = stored?.history.filter((one) => one.fence < fence) ?? [];
      const crashes = before.filter(({ outcome }) => outcome === "crashed").length;
      if (crashes >= CRASHES_OF_A_SUSPECT) return true;
    }
  }
  return false;
}

function isFull({ jobs }: Evidence, { name, concurrency }: ProcessStory, window: Span): boolean {
  let taken = 0;
  for (const { runs } of jobs.values()) {
    for (const { by, startAt, endAt } of runs) {
      if (by === name && startAt <= window.from && (endAt ?? Infinity) >= window.to) taken += 1;
    }
  }
  return taken >= concurrency;
}
