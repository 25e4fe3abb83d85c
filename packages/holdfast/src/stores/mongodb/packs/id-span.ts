/**
 * Fresh jobs are found by the least and the greatest id of their document: to have each id in an index was
 * a seventh of what an insert costs the server. Ids begin with the time at which they were made, and
 * only those of the same sixteen milliseconds share a document. So there are few that reach over an id
 * without having it.
 */
import type { Document } from "../driver-like.ts";

/** Eleven digits of twelve, and a hyphen: of 48 bits of milliseconds all but the last four. */
const TIME_CHARACTERS = 12;

/** Were they made at about the same time? */
export function areBeside(id: string, other: string): boolean {
  // Each insert asks for each of its jobs: no texts are made for it.
  for (let at = 0; at < TIME_CHARACTERS; at++) {
    if (id.charCodeAt(at) !== other.charCodeAt(at)) return false;
  }
  return true;
}

function timeOf(id: string): string {
  return id.slice(0, TIME_CHARACTERS);
}

export interface IdSpan {
  readonly idFrom: string;
  readonly idTo: string;
}

export function spanOf(ids: readonly string[]): IdSpan {
  let [idFrom = "", idTo = ""] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id > idTo) idTo = id;
    else if (id < idFrom) idFrom = id;
  }
  return { idFrom, idTo };
}

/** Finds the documents that have some of these. */
export function having(ids: readonly string[]): Document {
  const ways = [...Map.groupBy(ids, timeOf)].map(([time, some]) => {
    const { idFrom, idTo } = spanOf(some);
    return { idFrom: { $gte: time, $lte: idTo }, idTo: { $gte: idFrom }, ids: { $in: some } };
  });
  return ways.length === 1 ? (ways[0] as Document) : { $or: ways };
}

/** The server plans each way by itself: a question with ten thousand of them takes it seconds. */
const MOST_WAYS = 200;

/** So many as are asked for by one question. */
export function partsOf(ids: readonly string[]): string[][] {
  const byTime = [...Map.groupBy(ids, timeOf).values()];
  return Array.from({ length: Math.ceil(byTime.length / MOST_WAYS) }, (_, part) =>
    byTime.slice(part * MOST_WAYS, (part + 1) * MOST_WAYS).flat(),
  );
}

/** Those that may be in a document whose least id is this one, or a greater one. */
export function fromOn(ids: readonly string[], idFrom: string): string[] {
  const time = timeOf(idFrom);
  return ids.filter((id) => timeOf(id) >= time);
}
