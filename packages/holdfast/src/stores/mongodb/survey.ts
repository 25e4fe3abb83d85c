/**
 * What a lease of several queues wants to know of all of them, in one question: the queues themselves, which have
 * ready jobs, and when the next job of each falls due. Only those that have something are looked at one by one: of
 * a worker's queues most are empty most of the time, and five thousand of them cost it no more than a few.
 *
 * As with a snapshot nothing is decided here. What comes behind it brings a wakeup.
 */
import type { Demand } from "../../core/shares.ts";
import type { LeaseRequest } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { PLACES } from "./line-walk.ts";
import type { QueueDocument } from "./schema.ts";

export interface Survey {
  readonly queues: readonly QueueDocument[];
  /** Those with ready jobs, fresh or not. */
  readonly ready: Set<string>;
  /** Those with delayed jobs. */
  readonly dueAt: ReadonlyMap<string, number>;
}

export async function takeSurvey(db: Database, names: readonly string[]): Promise<Survey> {
  const named = { $in: names };
  // From queue to queue through the indexes.
  const ready = [
    { $match: { ready: named } },
    { $sort: { ready: 1, group: 1 } },
    { $group: { _id: "$ready" } },
    { $set: { isReady: true } },
  ];
  const due = [
    { $match: { due: named } },
    { $sort: { due: 1, runAt: 1 } },
    { $group: { _id: "$due", dueAt: { $first: "$runAt" } } },
  ];
  await db.options.clearing.done();
  const seen = await db.aggregate<Document & { readonly _id: string }>("queues", [
    { $match: { _id: named } },
    { $project: { lock: 0 } },
    db.unionWith("jobs", due),
    ...PLACES.map((place) => db.unionWith(place, ready)),
  ]);
  const survey = { queues: [] as QueueDocument[], ready: new Set<string>() };
  const dueAt = new Map<string, number>();
  for (const one of seen) {
    if ("isReady" in one) survey.ready.add(one._id);
    else if ("dueAt" in one) dueAt.set(one._id, Number(one["dueAt"]));
    else survey.queues.push(one as QueueDocument);
  }
  return { ...survey, dueAt };
}

export interface QueueDemand extends Demand {
  readonly queue: QueueDocument;
}

/** What is asked of those queues that there are. */
export function demandsOf(request: LeaseRequest, queues: readonly QueueDocument[]): QueueDemand[] {
  const byName = new Map(queues.map((queue) => [queue._id, queue]));
  return request.queues.flatMap(({ queue: name, limit, weight = 1 }) => {
    const queue = byName.get(name);
    return queue === undefined || limit <= 0 ? [] : [{ name, queue, limit, weight }];
  });
}
