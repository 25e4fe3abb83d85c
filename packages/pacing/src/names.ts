/** What things are called in the store: queues, keys of jobs, keys of records, gates. */
import { InvalidOptionError } from "holdfast";
import { hashText } from "./chance.ts";
import { checkWhole, shown } from "./option-checks.ts";
import { ACTIVITIES, type Action, type ActivityType } from "./scenario.ts";

export const PRIMARY_QUEUE = "simulation-jobs";
export const SECONDARY_QUEUE = "simulation-secondary";
export const CONTROL_QUEUE = "simulation-control";
export const MOST_SHARDS = 256;

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

export function checkId(id: unknown): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw new InvalidOptionError(
    `${shown(id)} cannot be the id of a simulation: use 1 to 64 letters, digits and _ . - and begin with a letter or a digit`,
  );
}

/** Over HTTP `/api/simulations/config` are the knobs of all: whoever meant one of this name would turn those. */
export function checkNewId(id: unknown): string {
  if (id !== "config") return checkId(id);
  throw new InvalidOptionError(
    '"config" cannot be the id of a simulation: its address is that of the knobs of all, choose another id',
  );
}

export function primaryQueue(shard: number): string {
  return `${PRIMARY_QUEUE}:${shard}`;
}

/** One for each type, so that each has a gate of its own. */
export function secondaryQueue(type: ActivityType): string {
  return `${SECONDARY_QUEUE}:${type}`;
}

export const SECONDARY_QUEUES: readonly string[] = ACTIVITIES.map(secondaryQueue);

/** The same for as long as the number of shards is the same; a simulation keeps the one it was made with. */
export function deriveShard(simulation: string, shards: number): number {
  return hashText(simulation, 99) % shards;
}

/** Of a list from a program or from the environment. */
export function checkShards(
  given: "all" | number | readonly number[] | undefined,
  shards: number,
): number[] {
  const all = Array.from({ length: shards }, (_, at) => at);
  if (given === undefined || given === "all") return all;
  const list = typeof given === "number" ? [given] : given;
  if (!Array.isArray(list) || list.length === 0) {
    throw new InvalidOptionError(`shards is "all", an index or a list of them: [0, 1]`);
  }
  return [...new Set(list.map((index) => checkWhole("a shard's index", index, 0, shards - 1)))];
}

export const gateOf = (action: Action): string => `pacing:${action}`;
/** Cooldown and breaker of the other side, for all actions. */
export const OUTBOUND_GATE = "pacing:outbound";

/** Keys of jobs, as system 3 writes its markers. */
export const jobKeys = {
  record: (id: string, index: number) => `sim:${id}:rec:${index}`,
  activity: (id: string, index: number, type: string, ordinal: number) =>
    `sim:${id}:sec:${index}:${type}:${ordinal}`,
  expansion: (id: string, segment: number) => `sim:${id}:seg:${segment}:expanded`,
  watch: (id: string) => `sim:${id}:watch`,
};

export const tags = {
  simulation: (id: string) => `sim:${id}`,
  segment: (id: string, segment: number) => `sim:${id}:seg:${segment}`,
};

/** Keys of records. */
const padded = (number: number) => String(number).padStart(7, "0");
export const recordKeys = {
  simulations: "pacing/sim/",
  simulation: (id: string) => `pacing/sim/${id}`,
  frontier: (id: string) => `pacing/frontier/${id}`,
  segments: (id: string) => `pacing/seg/${id}/`,
  segment: (id: string, segment: number) => `pacing/seg/${id}/${padded(segment)}`,
  chunk: (id: string, segment: number, chunk: number) =>
    `pacing/chunk/${id}/${padded(segment)}/${chunk}`,
  budget: (id: string) => `pacing/budget/${id}`,
  thinning: (id: string) => `pacing/thinning/${id}`,
  /** Totals of the segments at the beginning in which nothing is left to do. */
  progress: (id: string) => `pacing/progress/${id}`,
  config: "pacing/config",
  /** In the ledger's store: the row that outlives the jobs. */
  row: (id: string) => `pacing/simulations/${id}`,
  rows: "pacing/simulations/",
};
