/**
 * Plain successes of jobs that were leased with their packs. All that end in one call are one write of
 * their pack, and the one that ends its last job ends the pack.
 */
import type { Settlement } from "../../../core/store.ts";
import type { SameUpdate } from "../database.ts";
import type { Document } from "../driver-like.ts";
import { MOST_RESULT_CHARACTERS, placeOf } from "./packs.ts";
import type { PackPlace } from "../schema.ts";
import { UNMARKED } from "./unpack.ts";

interface Ended extends PackPlace {
  readonly settlement: Settlement;
}

/** The settlements of one pack under one fence. */
export interface PackEnd {
  readonly pack: string;
  readonly n: number;
  readonly fence: number;
  readonly ended: readonly Ended[];
}

interface Moment {
  readonly now: number;
  /** What marks the write. */
  readonly v: string;
  readonly remembersMs: number;
}

/** Those of jobs in packs whose results are small enough to be kept there. */
export function packEndsOf(settlements: readonly Settlement[]): PackEnd[] {
  const ends = new Map<string, PackEnd & { readonly ended: Ended[] }>();
  for (const settlement of settlements) {
    const place = placeOf(settlement);
    const { outcome, fence } = settlement;
    if (place === null || outcome.kind !== "succeed") continue;
    if ((outcome.result?.length ?? 0) > MOST_RESULT_CHARACTERS) continue;
    const { pack, n } = place;
    const known = ends.get(pack);
    const one = { ...place, settlement };
    if (known === undefined) ends.set(pack, { pack, n, fence, ended: [one] });
    // Of two fences at least one is lost: that wants some thought.
    else if (known.fence === fence) known.ended.push(one);
  }
  return [...ends.values()].filter((end) => isDiscarded(end) || !end.ended.some(isNotKept));
}

/** All at once, and none is kept: then the pack is not kept. */
function isDiscarded({ n, ended }: PackEnd): boolean {
  return ended.length === n && ended.every(isNotKept);
}

function isNotKept({ settlement }: Ended): boolean {
  return settlement.discard === true;
}

/**
 * Nobody here knows how many are left, so both are tried: these were the last, or some are left. At most
 * one of the two fits, whichever comes first.
 */
export function updatesOf(end: PackEnd, { now, v, remembersMs }: Moment): SameUpdate[] {
  const { pack, n, fence, ended } = end;
  const results = Object.fromEntries(ended.flatMap(resultOf));
  const ids = [pack];
  const count = ended.length;
  const held = { fence, status: "processing", ...UNMARKED };
  if (isDiscarded(end)) {
    const memory = { v, ids: "$ids", gone: now + remembersMs, settledFence: fence };
    const update = [{ $replaceWith: { _id: "$_id", ...memory } }];
    return [{ ids, filter: { ...held, left: n }, update }];
  }
  const closed = { status: "succeeded", updatedAt: now, settledFence: fence, left: 0, v };
  const $unset = { leased: "", leaseUntil: "" };
  if (count === n) {
    const $set = { ...closed, finishedAt: now, ...results };
    return [{ ids, filter: { ...held, left: n }, update: { $set, $unset } }];
  }
  const names = ended.map(({ index }) => `ends.${index}`);
  const running: Document = {
    ...held,
    ...Object.fromEntries(names.map((name) => [name, { $exists: false }])),
  };
  const ends = Object.fromEntries(names.map((name) => [name, now]));
  const some = { $set: { ...ends, ...results, v }, $min: { finishedAt: now } };
  return [
    {
      ids,
      filter: { ...running, left: count },
      update: { $set: { ...closed, ...ends, ...results }, $unset },
    },
    {
      ids,
      filter: { ...running, left: { $gt: count } },
      update: { ...some, $inc: { left: -count } },
    },
  ];
}

function resultOf({ index, settlement: { outcome } }: Ended): [string, Document][] {
  if (outcome.kind !== "succeed") return [];
  const { result, resultDropped } = outcome;
  if (result === null && !resultDropped) return [];
  const kept = {
    ...(result === null ? {} : { result }),
    ...(resultDropped ? { resultDropped } : {}),
  };
  return [[`results.${index}`, kept]];
}
