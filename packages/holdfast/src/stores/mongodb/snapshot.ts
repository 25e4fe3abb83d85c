/**
 * Everything a lease of one queue wants to know, in one question: the queue itself, when its next job
 * falls due, its lines, and the first jobs of the line if there was only one the last time. Each question
 * costs the server a quarter of a millisecond, and us as much: one instead of four matters.
 *
 * Nothing is decided here: what was seen may be out of date at once, and the claim finds out.
 */
import { readJobs, stagesOf, type Stretch, type Waiting } from "./claim.ts";
import type { GroupRange } from "./clearing.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { headsIn, PLACES, walkOf, type Head, type Place } from "./line-walk.ts";
import type { JobDocument, QueueDocument } from "./schema.ts";
import { inOrder } from "./placement.ts";

/** Which documents of which line, for how many jobs. */
export interface Asked extends Stretch {
  readonly jobs: number;
}

export interface Snapshot {
  /** Null: only the first job of each line. */
  readonly asked: Asked | null;
  /** Undefined: there is no such queue. */
  readonly queue: QueueDocument | undefined;
  /** Infinity: no job is delayed. */
  readonly dueAt: number;
  readonly heads: readonly Head[];
  /** Perhaps fewer than were asked for. */
  readonly first: readonly JobDocument[];
  /** There were no others in that line. */
  readonly isWhole: boolean;
}

function placesOf({ span }: Asked): readonly Place[] {
  return span === undefined ? PLACES : [span.place];
}

/** `halves`: many lines are walked in two parts beside each other; the server gives each question one core. */
export async function takeSnapshot(
  db: Database,
  name: string,
  asked: Asked | null,
  halves: readonly GroupRange[] = [],
): Promise<Snapshot> {
  const due = [
    { $match: { due: name } },
    { $sort: { due: 1, runAt: 1, seq: 1 } },
    { $limit: 1 },
    { $project: { _id: 0, dueAt: "$runAt" } },
  ];
  const isParted = halves.length > 0;
  if (!isParted) await db.options.clearing.done();
  const walked = isParted ? [] : PLACES;
  const [seen, ...parts] = await Promise.all([
    db.aggregate<Document>("queues", [
      { $match: { _id: name } },
      { $project: { lock: 0 } },
      db.unionWith("jobs", due),
      ...walked.map((place) => db.unionWith(place, walkOf(place, name))),
      ...(asked === null
        ? []
        : placesOf(asked).map((place) => db.unionWith(place, stagesOf(name, { ...asked, place })))),
    ]),
    ...halves.map((half) => headsIn(db, name, half)),
  ]);
  const heads: unknown[] = parts.flat();
  const first: Waiting[] = [];
  let queue: unknown;
  let dueAt = Infinity;
  for (const one of seen) {
    if ("head" in one) heads.push(one);
    else if ("seq" in one) first.push(one as unknown as Waiting);
    else if ("dueAt" in one) dueAt = Number(one["dueAt"]);
    else queue = one;
  }
  const fresh = first.filter((one) => "pack" in one).length;
  const most = Math.max(fresh, first.length - fresh);
  return {
    asked,
    isWhole: asked?.skip === 0 && asked.span === undefined && most < asked.documents,
    queue: queue as QueueDocument | undefined,
    dueAt,
    heads: heads as Head[],
    first: inOrder(readJobs(first)),
  };
}
