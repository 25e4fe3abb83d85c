/**
 * The jobs of a page that are in packs. The numbers of a pack's jobs lie between `first` and `last`, with
 * those of others among them, and never far apart. So beside the packs that begin behind the cursor, in
 * the order of the page, one looks at those that reach over it.
 */
import type { JobFilter } from "../../../core/store.ts";
import type { Database } from "../database.ts";
import type { Document } from "../driver-like.ts";
import type { Part, Walk } from "../find.ts";
import type { Place } from "../line-walk.ts";
import { jobsOf, MOST_SPREAD, SEQS } from "./packs.ts";
import type { JobDocument, Pack } from "../schema.ts";

/** Which packs. */
export interface PackSource {
  readonly place: Place;
  readonly packs: Document;
  /** By which of their numbers they are walked in each order, and the index of it. */
  readonly by: Readonly<
    Record<Walk["order"], { readonly begin: "first" | "last" | "_id"; hint: string }>
  >;
}

export interface PackWalk extends Walk {
  readonly filter: JobFilter;
  /** All conditions, of one job. */
  isMeant(job: JobDocument): boolean;
}

export async function walkPacks(
  db: Database,
  { place, packs, by }: PackSource,
  { order, after, limit, lookAtMost, filter, isMeant }: PackWalk,
): Promise<Part> {
  const isDown = order === "newest";
  const { begin, hint } = by[order];
  const end = begin === "last" ? "first" : "last";
  const behind = (number: number): Document => ({ [isDown ? "$lt" : "$gt"]: number });
  const start = { ...(after === null ? { $gt: 0 } : behind(after)) };
  const range = { ...packs, [begin]: start };
  const sorting = {
    sort: { [begin]: isDown ? -1 : 1 },
    hint,
    allowDiskUse: true,
  } as const;
  const conditions = conditionsOf(filter);
  const look = { ...sorting, skip: lookAtMost - 1, limit: 1, projection: { first: 1, last: 1 } };
  const [edge] = await db.find<Pack>(place, range, look);
  const bound = edge === undefined ? {} : { [isDown ? "$gte" : "$lte"]: edge[begin] };
  const most = limit + 1;
  const show = { ...sorting, limit: most, projection: SHOWN };
  const window = { $and: [{ ...packs, [begin]: { ...start, ...bound } }, ...conditions] };
  const [found, over] = await Promise.all([
    db.find<Pack>(place, window, show),
    after === null ? [] : reachingOver(after),
  ]);
  const isBehind = (seq: number): boolean => after === null || (isDown ? seq < after : seq > after);
  const jobs = [...over, ...found]
    .flatMap(jobsOf)
    .filter((job) => isBehind(job.seq) && isMeant(job));
  const known = found.length === most ? found.at(-1) : edge;
  return { found: jobs, end: known === undefined ? undefined : Number(known[begin]) };

  function reachingOver(cursor: number): Promise<Pack[]> {
    const far = isDown
      ? { $gte: cursor, $lt: cursor + MOST_SPREAD }
      : { $lte: cursor, $gt: cursor - MOST_SPREAD };
    const reaching = { ...packs, [begin]: far, [end]: behind(cursor) };
    const all = { $and: [reaching, ...conditions] };
    return db.find<Pack>(place, all, { ...sorting, projection: SHOWN });
  }
}

/** What the conditions ask of a job, and its number. */
const SHOWN = {
  ...{ ids: 1, ends: 1, queue: 1, type: 1, group: 1, status: 1, last: 1 },
  ...{ createdAt: 1, startedAt: 1, finishedAt: 1, worker: 1, attempts: 1 },
  ...{ ...SEQS, "pack.group": 1, "pack.tags": 1, "pack.createdAt": 1 },
};

/** That some job of a pack may be meant. None of them has failed, or been tried before. */
function conditionsOf(filter: JobFilter): Document[] {
  const { status, queue, group, type, tag, worker, finishedFrom, finishedTo } = filter;
  const conditions: Document[] = [];
  if (worker !== undefined) conditions.push({ worker });
  // The first of its ends, and the last.
  if (finishedTo !== undefined) conditions.push({ finishedAt: { $lt: finishedTo } });
  if (finishedFrom !== undefined) {
    conditions.push({ $or: [{ updatedAt: { $gte: finishedFrom } }, { ends: { $exists: true } }] });
  }
  if (status !== undefined) {
    const isPartly = { status: "processing", ends: { $exists: true } };
    const ways = [{ status: { $in: status } }, ...(status.includes("succeeded") ? [isPartly] : [])];
    conditions.push({ $or: ways });
  }
  if (queue !== undefined) conditions.push({ queue });
  if (type !== undefined) conditions.push({ type });
  if (group !== undefined) conditions.push({ $or: [{ group }, { "pack.group": group }] });
  const isTagged = { $elemMatch: { $elemMatch: { $eq: tag } } };
  if (tag !== undefined) conditions.push({ "pack.tags": isTagged });
  return conditions;
}
