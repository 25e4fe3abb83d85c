/** What `pacing.create` takes, checked. */
import { InvalidOptionError } from "holdfast";
import type { Distribution } from "./distribution.ts";
import { checkNewId, deriveShard } from "./names.ts";
import {
  checkInstant,
  checkNumber,
  checkOneOf,
  checkOptions,
  checkWhole,
  MAX_DURATION_MS,
  MOST,
} from "./option-checks.ts";
import { ACTIONS, checkKnobs, KNOBS, type Action, type ScenarioKnobs } from "./scenario.ts";
import { POLICIES, type Policy, type SimulationRecord } from "./simulation.ts";
import { Timeline, type Plan } from "./timeline.ts";

export interface ScenarioOptions extends ScenarioKnobs {
  /** Multiplies the number of records. Default 1. */
  readonly scale?: number | undefined;
  /** The records are deals: `winRate` decides which are won. Default false. */
  readonly deals?: boolean | undefined;
  /** Most calls a minute, by action. Default: no bound. */
  readonly capacity?: Readonly<Partial<Record<Action, number>>> | undefined;
}

export interface SimulationOptions {
  /** Default: a new one. */
  readonly id?: string | undefined;
  /** How many records, before the scenario's `scale`. */
  readonly records: number;
  /** Default: now. */
  readonly start?: Date | string | undefined;
  /** The first moment after it; or say `durationMs`. */
  readonly end?: Date | string | undefined;
  readonly durationMs?: number | undefined;
  /** Default uniform. */
  readonly distribution?: Distribution | undefined;
  /** Default an hour. */
  readonly segmentMs?: number | undefined;
  /** Default `strict`. */
  readonly policy?: Policy | undefined;
  /** Of the instants. Default: the id. */
  readonly seed?: string | undefined;
  readonly scenario?: ScenarioOptions | undefined;
  /** Anything that JSON can say, up to 16 KiB: your handlers get it. */
  readonly data?: unknown;
}

const OPTIONS = [
  ...["id", "records", "start", "end", "durationMs", "distribution", "segmentMs", "policy"],
  ...["seed", "scenario", "data"],
];
const HOUR = 3_600_000;
const MOST_SEGMENTS = 100_000;
/** All of a segment's jobs are in the store at once, and its chunks in one list. */
const MOST_IN_SEGMENT = 100_000;
const MOST_DATA = 16 * 1024;

export function checkSimulation(
  options: SimulationOptions,
  { now, shards }: { readonly now: number; readonly shards: number },
): SimulationRecord {
  checkOptions("pacing.create", options, OPTIONS);
  const id = checkNewId(options.id ?? crypto.randomUUID());
  const { scale = 1, deals = false, capacity = {}, ...knobs } = checkScenario(options.scenario);
  const records = checkWhole("records", options.records, 0, MOST);
  const { start, end } = checkSpan(options, now);
  const plan: Plan = {
    ...{ start, end, count: Math.min(MOST, Math.round(records * scale)) },
    distribution: options.distribution ?? { shape: "uniform" },
    seed: checkSeed(options.seed ?? id),
    segmentMs: checkWhole("segmentMs", options.segmentMs ?? HOUR, 1_000, MAX_DURATION_MS),
  };
  checkSegments(new Timeline(plan));
  return {
    ...{ id, plan, deals, capacity, knobs, overrides: {}, data: checkData(options.data) },
    policy: checkOneOf("policy", options.policy ?? "strict", POLICIES),
    shard: deriveShard(id, shards),
    ...{ status: "created", createdAt: now, startedAt: null, endedAt: null, reason: null },
    mark: crypto.randomUUID(),
  };
}

function checkScenario(given: ScenarioOptions = {}): ScenarioOptions {
  checkOptions("scenario", given, [...KNOBS, "scale", "deals", "capacity"]);
  const { scale, deals, capacity, ...knobs } = given;
  if (scale !== undefined) checkNumber("scenario.scale", scale, 0.000001, 1_000_000);
  if (deals !== undefined && typeof deals !== "boolean") {
    throw new InvalidOptionError("scenario.deals is true or false");
  }
  if (capacity !== undefined) {
    checkOptions("scenario.capacity", capacity, ACTIONS);
    for (const [action, limit] of Object.entries(capacity)) {
      checkWhole(`scenario.capacity.${action}`, limit, 1, MOST);
    }
  }
  checkKnobs("scenario", knobs);
  return given;
}

function checkSpan(options: SimulationOptions, now: number) {
  const start = options.start === undefined ? now : checkInstant("start", options.start);
  if ((options.end === undefined) === (options.durationMs === undefined)) {
    throw new InvalidOptionError("pacing.create takes end or durationMs, one of the two");
  }
  const end =
    options.durationMs === undefined
      ? checkInstant("end", options.end)
      : start + checkWhole("durationMs", options.durationMs, 1, MAX_DURATION_MS);
  if (end <= start) {
    throw new InvalidOptionError(
      `end must come after start: ${new Date(end).toISOString()} does not come after ${new Date(start).toISOString()}`,
    );
  }
  if (end - start > MAX_DURATION_MS)
    throw new InvalidOptionError("a simulation lasts ten years at most");
  return { start, end };
}

/** Each is looked at now: later there would be no one to tell. */
function checkSegments(timeline: Timeline): void {
  const { segmentCount, plan } = timeline;
  if (segmentCount > MOST_SEGMENTS) {
    throw new InvalidOptionError(
      `segmentMs ${plan.segmentMs} makes ${segmentCount} segments, and a simulation has at most ${MOST_SEGMENTS}: choose a longer one`,
    );
  }
  for (let number = 0, before = 0; number < segmentCount; number += 1) {
    const end = Math.min(plan.end, plan.start + (number + 1) * plan.segmentMs);
    const after = timeline.countBefore(end);
    if (after - before > MOST_IN_SEGMENT) {
      throw new InvalidOptionError(
        `segment ${number} would have ${after - before} records, and a segment has at most ${MOST_IN_SEGMENT}: choose a shorter segmentMs than ${plan.segmentMs}`,
      );
    }
    before = after;
  }
}

function checkSeed(seed: unknown): string {
  if (typeof seed === "string" && seed !== "" && seed.length <= 200) return seed;
  throw new InvalidOptionError("seed is a text of 1 to 200 characters");
}

function checkData(data: unknown): unknown {
  if (data === undefined) return null;
  const text = JSON.stringify(data) as string | undefined;
  if (text !== undefined && text.length <= MOST_DATA) return data;
  throw new InvalidOptionError(
    "data is something that JSON can say, of at most 16 KiB: keep what is larger elsewhere, and its name here",
  );
}
