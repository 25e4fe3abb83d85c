/**
 * What a schedule is and how it goes on, as pure rules over its record. A tick goes through three writes:
 *
 *   claimed   what becomes of each due tick, with the id of its job, is written into the record;
 *   inserted  the jobs are stored under those ids, so that inserting again finds them;
 *   marked    the claim is taken out, and what it came to is counted.
 *
 * A claim that its process did not mark is carried on by another after {@link CLAIM_MS}.
 */
import type { JobRef } from "./store-calls.ts";
import type { NewJob } from "./job.ts";
import { dueTicks, firstTick, tickAfter } from "./schedule-rule.ts";
import type { ScheduleRule } from "./schedule-rule.ts";

export const OVERLAPS = ["skip", "queue", "cancel"] as const;
/** What a tick does while the job of the last one has not finished. */
export type Overlap = (typeof OVERLAPS)[number];
export const MISSED = ["once", "skip", "all"] as const;
/** What becomes of ticks at whose time no worker lived, or the store was away. */
export type Missed = (typeof MISSED)[number];

/** Everything of a job that is the same at every tick. */
export type ScheduledJob = Omit<NewJob, "id" | "runAt" | "dedupe">;

export interface ScheduleDefinition {
  readonly rule: ScheduleRule;
  readonly job: ScheduledJob;
  readonly overlap: Overlap;
  readonly missed: Missed;
}

/** `failed`: the store refused its job for good. */
export type TickState = "fired" | "skipped" | "missed" | "failed";

export interface Tick {
  readonly at: number;
  readonly state: TickState;
  /** Of a tick that fires. */
  readonly jobId: string | null;
  readonly error?: string;
}

export interface Claim {
  /** The process that carries it on. */
  readonly by: string;
  /** By the store's clock. */
  readonly at: number;
  readonly ticks: readonly Tick[];
  /** Ticks that were missed besides, too many to be named. */
  readonly uncounted: number;
  /** What is asked to end first. */
  readonly cancels: JobRef | null;
  /** What was scheduled when it was claimed, if that has changed since. */
  readonly job: ScheduledJob | null;
}

/** A run that an operator asked for, and that may not be through. */
export interface BegunRun {
  readonly id: string;
  /** By the store's clock. */
  readonly at: number;
  /** What was scheduled when it was begun, if that has changed since. */
  readonly job: ScheduledJob | null;
}

export interface Paused {
  readonly at: number;
  readonly by: string | null;
  readonly reason: string | null;
}

export interface ScheduleState {
  readonly name: string;
  readonly definition: ScheduleDefinition;
  /** Declared by programs, or made by an operator: then no program touches it. */
  readonly origin: "code" | "api";
  /** Of the program whose definition this is. */
  readonly appVersion: string | null;
  /** Of an interval: its first tick. */
  readonly anchor: number;
  /** The first tick that no claim has dealt with; null: there is none any more. */
  readonly nextAt: number | null;
  readonly paused: Paused | null;
  /** Since when no live worker declares it any more. */
  readonly disabledAt: number | null;
  readonly claim: Claim | null;
  readonly run?: BegunRun | null;
  readonly last: Tick | null;
  /** The newest that was fired. */
  readonly lastJob: (JobRef & { readonly queue: string }) | null;
  readonly fired: number;
  readonly skipped: number;
  readonly missed: number;
  /** Another one at every write: tells a lost reply from a lost race. */
  readonly mark: string;
}

/** Where the records are, each under its name. */
export const SCHEDULES = "holdfast/schedules/";
/** Others leave a claim alone for so long; and its process inserts nothing later than that. */
export const CLAIM_MS = 10_000;
/** Whoever asks for a run by hand so soon after one that was not heard of goes on with that. */
const SAME_RUN_MS = 600_000;
/** With `missed: "skip"` a tick may be this late. */
export const LATE_MS = 60_000;

export function newSchedule(
  name: string,
  definition: ScheduleDefinition,
  about: Pick<ScheduleState, "origin" | "appVersion"> & { readonly now: number },
): ScheduleState {
  const { origin, appVersion, now } = about;
  const nextAt = firstTick(definition.rule, now);
  return {
    ...{ name, definition, origin, appVersion, anchor: nextAt ?? now, nextAt },
    ...{ paused: null, disabledAt: null, claim: null, last: null, lastJob: null },
    ...{ fired: 0, skipped: 0, missed: 0, mark: "" },
  };
}

/** With another rule it begins anew; with the same one its ticks go on. */
export function redefined(
  state: ScheduleState,
  definition: ScheduleDefinition,
  about: Pick<ScheduleState, "origin" | "appVersion"> & { readonly now: number },
): ScheduleState {
  const { origin, appVersion, now } = about;
  const isSameRule = JSON.stringify(definition.rule) === JSON.stringify(state.definition.rule);
  const nextAt = isSameRule ? state.nextAt : firstTick(definition.rule, now);
  const { claim, run } = state;
  const changed: ScheduleState = {
    ...{ ...state, definition, origin, appVersion, nextAt },
    anchor: isSameRule ? state.anchor : (nextAt ?? now),
    // What is claimed is inserted as it was then: in another queue it would not be found again.
    claim: claim && { ...claim, job: claim.job ?? state.definition.job },
    ...(run && { run: { ...run, job: run.job ?? state.definition.job } }),
  };
  return changed.disabledAt === null ? changed : declaredAgain(changed, now);
}

export function isActive({ paused, disabledAt }: ScheduleState): boolean {
  return paused === null && disabledAt === null;
}

/** Its ticks of the meantime were not wanted, so none of them was missed. */
export function enabled(state: ScheduleState, now: number): ScheduleState {
  const { definition, anchor } = state;
  return {
    ...{ ...state, paused: null, disabledAt: null },
    nextAt: tickAfter(definition.rule, { anchor, after: now }),
  };
}

/** After nobody had declared it for a while. What a person paused stays paused. */
export function declaredAgain(state: ScheduleState, now: number): ScheduleState {
  return { ...enabled(state, now), paused: state.paused };
}

/** When a process has something to do for it; null: never, as it is. */
export function dueAt(state: ScheduleState, process: string): number | null {
  if (state.claim) return state.claim.by === process ? 0 : state.claim.at + CLAIM_MS;
  return isActive(state) ? state.nextAt : null;
}

export interface ClaimInput {
  readonly by: string;
  readonly now: number;
  /** The job of the last tick has not finished. */
  readonly isBusy: boolean;
  readonly idOf: (tick: number) => string;
}

/** Null: nothing is due, or another process is at it. A claim that was left behind is taken over as it is. */
export function claimed(state: ScheduleState, input: ClaimInput): ScheduleState | null {
  const { by, now } = input;
  const due = dueAt(state, by);
  if (due === null || due > now) return null;
  if (state.claim) return { ...state, claim: { ...state.claim, by, at: now } };
  const { rule, overlap, missed } = state.definition;
  const { ticks, count } = dueTicks(rule, { from: state.nextAt!, until: now });
  const latest = ticks.at(-1)!;
  const isFired = (tick: number) =>
    missed === "all" || (tick === latest && (missed === "once" || now - latest <= LATE_MS));
  const isSkipped = overlap === "skip" && input.isBusy;
  const decided = ticks.map((at): Tick => {
    if (!isFired(at)) return { at, state: "missed", jobId: null };
    if (isSkipped) return { at, state: "skipped", jobId: null };
    return { at, state: "fired", jobId: input.idOf(at) };
  });
  const cancels = overlap === "cancel" && input.isBusy ? state.lastJob : null;
  const uncounted = count - ticks.length;
  return {
    ...state,
    nextAt: tickAfter(rule, { anchor: state.anchor, after: now }),
    claim: { by, at: now, ticks: decided, uncounted, cancels, job: null },
  };
}

/** The claim has been dealt with, and this is what became of its ticks. */
export function marked(state: ScheduleState, ticks: readonly Tick[]): ScheduleState {
  const { claim } = state;
  if (!claim) return state;
  const counts = { fired: 0, skipped: 0, missed: claim.uncounted, failed: 0 };
  for (const tick of ticks) counts[tick.state] += 1;
  const newest = ticks.findLast(({ state: how }) => how === "fired");
  const { queue } = claim.job ?? state.definition.job;
  return {
    ...{ ...state, claim: null, last: ticks.at(-1) ?? state.last },
    lastJob: newest?.jobId ? { id: newest.jobId, queue } : state.lastJob,
    fired: state.fired + counts.fired,
    skipped: state.skipped + counts.skipped,
    missed: state.missed + counts.missed,
  };
}

/** Begun once: one whose caller was not answered is gone on with. */
export function runBegun(state: ScheduleState, run: Pick<BegunRun, "id" | "at">): ScheduleState {
  const before = state.run ?? null;
  const isSame = before !== null && run.at - before.at < SAME_RUN_MS;
  return { ...state, run: isSame ? before : { ...run, job: null } };
}

/** Null: another call was through with it first. */
export function runMarked(state: ScheduleState, id: string): ScheduleState | null {
  const { run } = state;
  if (run?.id !== id) return null;
  const { queue } = run.job ?? state.definition.job;
  return {
    ...state,
    run: null,
    last: { at: run.at, state: "fired", jobId: id },
    lastJob: { id, queue },
    fired: state.fired + 1,
  };
}
