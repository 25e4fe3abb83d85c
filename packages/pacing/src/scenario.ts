/**
 * Scenario parameters: how a simulation behaves, apart from when. Those that can be changed while it runs are
 * knobs; a change is an override, and an override that is cleared leaves the default.
 */
import { InvalidOptionError } from "holdfast";
import { checkNumber, checkObject, checkOptions, checkWhole, MOST } from "./option-checks.ts";

export const ACTIVITIES = ["note", "call", "task", "ticket"] as const;
export type ActivityType = (typeof ACTIVITIES)[number];
/** What may be called outside: a record, or an activity. */
export const ACTIONS = ["contact", ...ACTIVITIES] as const;
export type Action = (typeof ACTIONS)[number];

/** One mask of bits stands for the activities of one type: so many are possible. */
export const MOST_PER_RECORD = 16;
const MINUTE = 60_000;
const MOST_DELAY_MS = 366 * 86_400_000;

/** As jobs and people see them: complete. */
export interface ScenarioParams {
  /** From 0 to 1: how many of the deals are won. */
  readonly winRate: number;
  /** Of each activity that a record may have, up to its cap. */
  readonly probabilities: Readonly<Record<ActivityType, number>>;
  /** Most of one type for one record. */
  readonly caps: Readonly<Record<ActivityType, number>>;
  /** Most of one type for the whole simulation. Null: any number. */
  readonly budgets: Readonly<Record<ActivityType, number | null>>;
  /** From and to, after the record. */
  readonly delaysMs: Readonly<Record<ActivityType, readonly [number, number]>>;
}

/** What is said; the rest is as it is below. */
export interface ScenarioKnobs {
  readonly winRate?: number | undefined;
  readonly probabilities?: Readonly<Partial<Record<ActivityType, number>>> | undefined;
  readonly caps?: Readonly<Partial<Record<ActivityType, number>>> | undefined;
  readonly budgets?: Readonly<Partial<Record<ActivityType, number | null>>> | undefined;
  readonly delaysMs?:
    Readonly<Partial<Record<ActivityType, readonly [number, number]>>> | undefined;
}

export const KNOBS = ["winRate", "probabilities", "caps", "budgets", "delaysMs"] as const;

export const DEFAULT_PARAMS: ScenarioParams = {
  winRate: 0.25,
  probabilities: { note: 0, call: 0, task: 0, ticket: 0 },
  caps: { note: 1, call: 1, task: 1, ticket: 1 },
  budgets: { note: null, call: null, task: null, ticket: null },
  delaysMs: {
    note: [MINUTE, 60 * MINUTE],
    call: [MINUTE, 60 * MINUTE],
    task: [MINUTE, 60 * MINUTE],
    ticket: [MINUTE, 60 * MINUTE],
  },
};

/** Throws `InvalidOptionError` with the field. */
export function checkKnobs(what: string, given: unknown): ScenarioKnobs {
  checkOptions(what, given, KNOBS);
  const knobs = given as ScenarioKnobs;
  if (knobs.winRate !== undefined) checkNumber(`${what}.winRate`, knobs.winRate, 0, 1);
  eachOf(what, knobs, "probabilities", (field, value) => checkNumber(field, value, 0, 1));
  eachOf(what, knobs, "caps", (field, value) => checkWhole(field, value, 0, MOST_PER_RECORD));
  eachOf(what, knobs, "budgets", (field, value) => {
    if (value !== null) checkWhole(field, value, 0, MOST);
  });
  eachOf(what, knobs, "delaysMs", checkDelay);
  return knobs;
}

function eachOf(
  what: string,
  knobs: ScenarioKnobs,
  name: Exclude<(typeof KNOBS)[number], "winRate">,
  check: (field: string, value: unknown) => unknown,
): void {
  const group: unknown = knobs[name];
  if (group === undefined) return;
  checkObject(`${what}.${name}`, group);
  checkOptions(`${what}.${name}`, group, ACTIVITIES);
  for (const [type, value] of Object.entries(group)) check(`${what}.${name}.${type}`, value);
}

function checkDelay(field: string, value: unknown): void {
  const [from, to] = (Array.isArray(value) ? value : []) as unknown[];
  if (!Array.isArray(value) || value.length !== 2) {
    throw new InvalidOptionError(`${field} is a pair, from and to: [60000, 3600000]`);
  }
  checkWhole(`${field}[0]`, from, 0, MOST_DELAY_MS);
  checkWhole(`${field}[1]`, to, from as number, MOST_DELAY_MS);
}

/** The later one counts, knob by knob and type by type. */
export function mergeParams(base: ScenarioParams, ...changes: readonly ScenarioKnobs[]) {
  return changes.reduce<ScenarioParams>(
    (params, knobs) => ({
      winRate: knobs.winRate ?? params.winRate,
      probabilities: { ...params.probabilities, ...knobs.probabilities },
      caps: { ...params.caps, ...knobs.caps },
      budgets: { ...params.budgets, ...knobs.budgets },
      delaysMs: { ...params.delaysMs, ...knobs.delaysMs },
    }),
    base,
  );
}

/** An override on top of an override. */
export function mergeKnobs(before: ScenarioKnobs, after: ScenarioKnobs): ScenarioKnobs {
  const groups = (["probabilities", "caps", "budgets", "delaysMs"] as const).flatMap((name) =>
    before[name] || after[name] ? [[name, { ...before[name], ...after[name] }] as const] : [],
  );
  const winRate = after.winRate ?? before.winRate;
  return { ...(winRate !== undefined && { winRate }), ...Object.fromEntries(groups) };
}
