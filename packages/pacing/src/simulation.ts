/** A simulation as it is stored, and what may become of it: pure. */
import { SimulationStateError } from "./errors.ts";
import {
  DEFAULT_PARAMS,
  mergeParams,
  type Action,
  type ScenarioKnobs,
  type ScenarioParams,
} from "./scenario.ts";
import type { Plan } from "./timeline.ts";

export const STATUSES = ["created", "running", "paused", "completed", "aborted"] as const;
export type SimulationStatus = (typeof STATUSES)[number];
/** `strict`: a segment is expanded when the one before is done. `by-time`: when its time comes. */
export const POLICIES = ["strict", "by-time"] as const;
export type Policy = (typeof POLICIES)[number];

export interface SimulationRecord {
  readonly id: string;
  readonly plan: Plan;
  readonly policy: Policy;
  readonly shard: number;
  readonly knobs: ScenarioKnobs;
  /** Its records are deals, won or lost. */
  readonly deals: boolean;
  /** Calls a minute, by action. */
  readonly capacity: Readonly<Partial<Record<Action, number>>>;
  /** What an admin changed. */
  readonly overrides: ScenarioKnobs;
  /** The caller's own, for its handlers. */
  readonly data: unknown;
  readonly status: SimulationStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly reason: string | null;
  /** Of whom wrote it last: tells a lost reply from a lost race. */
  readonly mark: string;
}

/** What can be done to it, and from where. */
const MOVES = {
  start: { from: ["created", "running"], to: "running" },
  pause: { from: ["running", "paused"], to: "paused" },
  resume: { from: ["paused", "running"], to: "running" },
  abort: { from: ["created", "running", "paused", "aborted"], to: "aborted" },
  complete: { from: ["running", "completed"], to: "completed" },
} as const satisfies Record<
  string,
  { readonly from: readonly SimulationStatus[]; readonly to: SimulationStatus }
>;
export type Move = keyof typeof MOVES;

/** The record itself if it is there already. Throws `SimulationStateError`. */
export function move(
  record: SimulationRecord,
  how: Move,
  {
    now,
    reason,
    mark,
  }: { readonly now: number; readonly reason: string | null; readonly mark: string },
): SimulationRecord {
  const { from, to } = MOVES[how];
  if (record.status === to) return record;
  if (!(from as readonly string[]).includes(record.status)) {
    throw new SimulationStateError(
      `simulation "${record.id}" is ${record.status}, so it cannot be ${PAST[how]}: ${ADVICE[record.status]}`,
    );
  }
  const isEnd = to === "completed" || to === "aborted";
  return {
    ...{ ...record, status: to, reason, mark },
    startedAt: record.startedAt ?? (to === "running" ? now : null),
    endedAt: isEnd ? now : null,
  };
}

const PAST: Readonly<Record<Move, string>> = {
  ...{ start: "started", pause: "paused", resume: "resumed", abort: "aborted" },
  complete: "completed",
};
const ADVICE: Readonly<Record<SimulationStatus, string>> = {
  created: "start it first",
  running: "pause or abort it first",
  paused: "resume it first",
  completed: "make another one, with an id of its own",
  aborted: "it stays so; make another one, with an id of its own",
};

/** Whether both were asked for alike: what became of one of them since is left aside. */
export function isSameWork(one: SimulationRecord, other: SimulationRecord): boolean {
  const asked = ({ plan, policy, knobs, deals, capacity, data }: SimulationRecord) =>
    JSON.stringify([plan, policy, knobs, deals, capacity, data]);
  return asked(one) === asked(other);
}

/** Defaults, the scenario's own, what an admin said for all, what an admin said for this one. */
export function paramsOf(
  { knobs, overrides }: Pick<SimulationRecord, "knobs" | "overrides">,
  general: ScenarioKnobs | null,
): ScenarioParams {
  return mergeParams(DEFAULT_PARAMS, knobs, general ?? {}, overrides);
}
