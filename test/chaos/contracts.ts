/**
 * The kinds of jobs that live through the chaos. Producers and workers share these contracts, and
 * the judge knows from them how a job may end.
 */
import { defineJob } from "../../packages/holdfast/src/index.ts";

/** What every payload carries. */
export interface ChaosPayload {
  /** Names the job in the witnesses: known before the store has given an id. */
  readonly key: string;
  /** How long the handler takes. */
  readonly ms: number;
}

/** What every handler returns: who wrote the stored result, under which fence. */
export interface ChaosResult {
  readonly by: string;
  readonly fence: number;
}

export const QUEUE = "chaos";
/** Where spawned jobs wait: not in their parent's queue. */
export const SIDE_QUEUE = "chaos-side";

/** The queue of the worker in this place, whoever has it after those who were killed. */
export function ownQueue(place: number): string {
  return `chaos-own-${place}`;
}

/** Chance may strike a job again and again. These limits let it, so such a job must succeed. */
const TOUGH = {
  queue: QUEUE,
  retry: { maxAttempts: 100, baseMs: 50, factor: 1.5, maxMs: 500 },
  maxCrashes: 100,
};

export const quick = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "quick" });
export const slow = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "slow" });
/** Runs longer than a lease: once, if nobody disturbs it. */
export const long = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "long" });
/** Does not look at its signal: a stopped worker comes back with it and its late result. */
export const stubborn = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "stubborn" });
/** Throws in its first two attempts. */
export const flaky = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "flaky" });
/** Waits for its timeout in the first attempt. */
export const hung = defineJob<ChaosPayload, ChaosResult>({
  ...TOUGH,
  type: "hung",
  timeoutMs: 250,
});
export const snoozing = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "snoozing" });
export const stepping = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "stepping" });
export const saving = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "saving" });
export const spawning = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "spawning" });
export const spawned = defineJob<ChaosPayload, ChaosResult>({
  ...TOUGH,
  type: "spawned",
  queue: SIDE_QUEUE,
});
/** Settles in a transaction of its handler, which commits or, the first time, may roll back. */
export const within = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "within" });
/** The same, with a transaction that is open for longer than the lease. */
export const withinLong = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "within-long" });
/** The ordinary limits: three crashes are too many. */
export const fragile = defineJob<ChaosPayload, ChaosResult>({ type: "fragile", queue: QUEUE });
/** Never runs twice, unless its start was taken back. */
export const single = defineJob<ChaosPayload, ChaosResult>({
  type: "single",
  queue: QUEUE,
  retry: { maxAttempts: 1 },
});
/** Asks one worker whether it takes jobs: enqueued into a queue that is its alone. */
export const probe = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "probe" });
/** Throws what cannot be mended. */
export const doomed = defineJob<ChaosPayload, ChaosResult>({ ...TOUGH, type: "doomed" });

export const CONTRACTS = [
  ...[quick, slow, long, stubborn, flaky, hung, snoozing, stepping, saving, spawning, spawned],
  ...[within, withinLong, fragile, single, probe, doomed],
];

/** Why a job of this type may be dead; every other must succeed. */
export function mayDieOf(type: string): readonly string[] {
  if (type === fragile.type) return ["poison", "crashed"];
  if (type === single.type) return ["crashed"];
  if (type === doomed.type) return ["permanent"];
  return [];
}

/**
 * A handler of this type ends as soon as its signal aborts. Others do not look at it, or are waiting
 * for the store to take a step or a checkpoint: they hear of it when that call ends.
 */
export function endsAtOnce(type: string): boolean {
  return ![stubborn, stepping, saving, snoozing, within, withinLong].some(
    (contract) => contract.type === type,
  );
}

export const CHILDREN = 2;

/** A spawned job's key tells which attempt of which parent spawned it. */
export function childKey(parent: string, fence: number, child: number): string {
  return `${parent}/${fence}/${child}`;
}

export function parentOfKey(key: string): { parent: string; fence: number } | null {
  const [parent, fence, child] = key.split("/");
  return child === undefined ? null : { parent: parent!, fence: Number(fence) };
}
