/**
 * Everything a lease of one queue wants to know, in one question: the queue itself, when its next job
 * falls due, its lines, and the first jobs of the line if there was only one the last time. Each question
 * costs the server a quarter of a millisecond, and us as much: one instead of four matters.
 *
 * Nothing is decided here: what was seen may be out of date at once, and the claim finds out.
 */
import { readJobs, stagesOf, type Stretch, type Waiting } from "./claim.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { PLACES, walkOf, type FirstOfLine, type Range } from "./line-walk.ts";
import { inOrder } from "./placement.ts";
import type { JobDocument, QueueDocument } from "./schema.ts";

/** Which documents of which line, for how many jobs. */
export interface Asked extends Stretch {
  readonly jobs: number;
}

export interface Snapshot {
  /** The lines that were looked at. */
  readonly range: Range;
  /** Null: only the first job of each line. */
  readonly asked: Asked | null;
  /** Undefined: there is no such queue. */
  readonly queue: QueueDocument | undefined;
  /** Infinity: no job is delayed. */
  readonly dueAt: number;
  readonly lines: readonly FirstOfLine[];
  /** Perhaps fewer than were asked for. */
  readonly first: readonly JobDocument[];
  /** There were no others in that line. */
  readonly isWhole: boolean;
  readonly tookMs: number;
}

export async function takeSnapshot(
  db: Database,
  name: string,
  { range, asked }: Pick<Snapshot, "range" | "asked">,
): Promise<Snapshot> {
  const due = [
    { $match: { due: name } },
    { $sort: { due: 1, runAt: 1, seq: 1 } },
    { $limit: 1 },
    { $project: { _id: 0, dueAt: "$runAt" } },
  ];
  await db.options.clearing.done();
  const begin = performance.now();
  const seen = await db.aggregate<Document>("queues", [
    { $match: { _id: name } },
    { $project: { lock: 0 } },
    db.unionWith("jobs", due),
    ...PLACES.map((place) => db.unionWith(place, walkOf(place, name, range.groups))),
    ...(asked === null
      ? []
      : PLACES.map((place) => db.unionWith(place, stagesOf(name, { ...asked, place })))),
  ]);
  const lines: unknown[] = [];
  const first: Waiting[] = [];
  let queue: unknown;
  let dueAt = Infinity;
  for (const one of seen) {
    if ("head" in one) lines.push(one);
    else if ("seq" in one) first.push(one as unknown as Waiting);
    else if ("dueAt" in one) dueAt = Number(one["dueAt"]);
    else queue = one;
  }
  const fresh = first.filter((one) => "pack" in one).length;
  const most = Math.max(fresh, first.length - fresh);
  return {
    range,
    asked,
    isWhole: asked !== null && asked.leaves === 0 && most < asked.documents,
    queue: queue as QueueDocument | undefined,
    dueAt,
    lines: lines as FirstOfLine[],
    first: inOrder(readJobs(first)),
    tookMs: performance.now() - begin,
  };
}
