/**
 * Plain new jobs, in line from the beginning: without a key, due at once, nobody's children, and small;
 * and nobody else has their ids. They wait in a collection of their own, with few indexes, because coming
 * and going there is all that most jobs ever do. Those that come together and stand next to each other
 * share a document.
 *
 * A job leaves it when somebody has written it among the jobs, with a pack that leases it, or as a
 * document that was changed. That happens first, so a job may be in both for a moment, or longer if a
 * process died between the two steps. What is among the jobs counts, and what is left over here is
 * refused there by the index of ids, and cleared by whoever comes upon it.
 */
import { LIGHTLY, type Database } from "../database.ts";
import type { Document } from "../driver-like.ts";
import { fromOn, having, partsOf } from "./id-span.ts";
import { eachList, seqAt } from "./packs.ts";
import type { FreshPack, JobDocument, Tombstone } from "../schema.ts";

/** Of one job: each lease sends it back to the server. */
export const MOST_FRESH_CHARACTERS = 4 * 1024;

/** Those in which these jobs wait. */
export async function packsWith(
  db: Database,
  ids: readonly string[],
  projection: Document = {},
): Promise<FreshPack[]> {
  let parts = partsOf(ids);
  if (parts.length > 1) {
    // Of very many most have left long ago: what still waits is younger.
    const first = {
      sort: { idFrom: 1 },
      limit: 1,
      hint: "span",
      projection: { _id: 0, idFrom: 1 },
    };
    const [oldest] = await db.find<FreshPack>("fresh", {}, first);
    parts = oldest === undefined ? [] : partsOf(fromOn(ids, oldest.idFrom));
  }
  const found: FreshPack[] = [];
  for (const some of parts) {
    found.push(...(await db.find<FreshPack>("fresh", having(some), { projection })));
  }
  return found;
}

/** As if they were documents among the jobs. Field by field: each lease does it for every job it sees. */
export function freshJobs(document: FreshPack): JobDocument[] {
  const { _id: pack, n, ids, queue, type, status, group, priority, maxAttempts } = document;
  const { createdAt } = document;
  const { payload, tags, meta, trace } = document.pack;
  const waits = { pack, n };
  return ids.map((_id, index) => ({
    _id,
    ids: _id,
    ready: queue,
    group,
    priority,
    seq: seqAt(document, index),
    type,
    queue,
    status,
    fresh: true,
    v: "",
    maxAttempts,
    attempts: 0,
    crashes: 0,
    deferrals: 0,
    fence: 0,
    createdAt,
    updatedAt: createdAt,
    runAt: createdAt,
    tags: tags?.[index] ?? null,
    meta: meta?.[index] ?? null,
    trace: trace?.[index] ?? null,
    payload: payload?.[index] ?? "",
    waits,
  }));
}

/** They are among the jobs now. If this is lost with a primary they are left over, and refused there. */
export async function clearFresh(db: Database, jobs: readonly JobDocument[]): Promise<void> {
  const byPack = Map.groupBy(jobs, ({ waits }) => waits?.pack ?? 0);
  const whole: number[] = [];
  const parts: [number, string[]][] = [];
  for (const [pack, some] of byPack) {
    if (some.length === some[0]?.waits?.n) whole.push(pack);
    else parts.push([pack, some.map(({ _id }) => _id)]);
  }
  await Promise.all([db.deleteInParts("fresh", whole), takeOut(db, parts)]);
}

/** The same, of jobs that were not read from here. */
export async function clearIds(db: Database, ids: readonly string[]): Promise<void> {
  const found = await packsWith(db, ids);
  const gone = new Set(ids);
  await clearFresh(
    db,
    found.flatMap(freshJobs).filter(({ _id }) => gone.has(_id)),
  );
}

/** The others of their packs stay in line. */
async function takeOut(db: Database, parts: readonly [number, string[]][]): Promise<void> {
  if (parts.length === 0) return;
  const operations = parts.flatMap(([_id, ids]) => [
    { updateOne: { filter: { _id }, update: without(ids) } },
    { deleteOne: { filter: { _id, n: 0 } } },
  ]);
  await db.bulk("fresh", operations, { ...LIGHTLY, ordered: true });
}

function without(ids: readonly string[]): Document[] {
  const isLeft = { $not: { $in: [{ $arrayElemAt: ["$ids", "$$this"] }, { $literal: ids }] } };
  const places = { $range: [0, { $size: "$ids" }] };
  const numbers = { $map: { input: places, in: { $add: ["$first", "$$this"] } } };
  const at = (list: string): Document => ({
    $map: { input: "$left", in: { $arrayElemAt: [list, "$$this"] } },
  });
  return [
    // From now on they do not follow each other.
    { $set: { "pack.seq": { $ifNull: ["$pack.seq", numbers] } } },
    { $set: { left: { $filter: { input: places, as: "this", cond: isLeft } } } },
    { $set: { n: { $size: "$left" }, ids: at("$ids"), pack: eachList("$pack", at) } },
    { $set: { seq: { $ifNull: [{ $first: "$pack.seq" }, "$seq"] } } },
    { $unset: "left" },
  ];
}

/** Forgets deleted jobs; first what was left over of them here, or they would be jobs again. */
export async function forget(db: Database, which: Document, limit: number): Promise<void> {
  const projection = { ids: 1, gone: 1 };
  const past = await db.find<Tombstone>("jobs", which, { limit, projection });
  if (past.length === 0) return;
  const goneAt = new Map(
    past.flatMap(({ _id, ids, gone }) => [_id, ids ?? []].flat().map((id) => [id, gone] as const)),
  );
  const found = await packsWith(db, [...goneAt.keys()]);
  // A new job that has come since one was to be forgotten is no leftover.
  const isLeftOver = ({ _id, createdAt }: JobDocument): boolean =>
    createdAt < (goneAt.get(_id) ?? -Infinity);
  const left = found.flatMap(freshJobs).filter(isLeftOver);
  await clearFresh(db, left);
  // A change of the primary may bring these back: they are forgotten when the next look finds none of them.
  const back = new Set(left.map(({ _id }) => _id));
  const clear = past.filter(({ _id, ids }) => ![_id, ids ?? []].flat().some((id) => back.has(id)));
  if (clear.length === 0) return;
  await db.deleteMany("jobs", { ...which, _id: { $in: clear.map(({ _id }) => _id) } });
}

/** How many jobs are ready, fresh or not; of each kind at most `limit` documents are counted. */
export async function countReady(db: Database, filter: Document, limit?: number): Promise<number> {
  await db.options.clearing.done();
  // In this order: one that is leased between the two is counted as waiting, and not missed.
  const fresh = await db.sum("fresh", filter, { field: "n", limit });
  return fresh + (await db.count("jobs", filter, limit));
}
