/**
 * Everything a lease of one queue wants to know, in one question: the queue itself, when its next job
 * falls due, its lines, and the first jobs of the line that was the only one the last time. Each
 * question costs the server a quarter of a millisecond, and us as much: one instead of four matters.
 *
 * Nothing is decided here: what was seen may be out of date at once, and the claim finds out.
 */
import { stagesOf } from "./claim.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { walkOf, type Head } from "./line-walk.ts";
import type { JobDocument, QueueDocument } from "./schema.ts";

/** Which jobs of which line. */
export interface Asked {
  readonly group: string;
  readonly jobs: number;
  readonly skip: number;
}

export interface Glance {
  readonly asked: Asked;
  /** Undefined: there is no such queue. */
  readonly queue: QueueDocument | undefined;
  /** Infinity: no job is delayed. */
  readonly dueAt: number;
  readonly heads: readonly Head[];
  /** Perhaps fewer than were asked for. */
  readonly first: readonly JobDocument[];
}

export async function glance(db: Database, name: string, asked: Asked): Promise<Glance> {
  const due = [
    { $match: { due: name } },
    { $sort: { due: 1, runAt: 1, seq: 1 } },
    { $limit: 1 },
    { $project: { _id: 0, dueAt: "$runAt" } },
  ];
  const seen = await db.aggregate<Document>("queues", [
    { $match: { _id: name } },
    { $project: { gate: 0 } },
    ...[due, walkOf(name), stagesOf(name, asked)].map((pipeline) => ({
      $unionWith: { coll: `${db.options.prefix}jobs`, pipeline },
    })),
  ]);
  const heads: unknown[] = [];
  const first: unknown[] = [];
  let queue: unknown;
  let dueAt = Infinity;
  for (const one of seen) {
    if ("seq" in one) first.push(one);
    else if ("head" in one) heads.push(one);
    else if ("dueAt" in one) dueAt = Number(one["dueAt"]);
    else queue = one;
  }
  return {
    asked,
    queue: queue as QueueDocument | undefined,
    dueAt,
    heads: heads as Head[],
    first: first as JobDocument[],
  };
}
