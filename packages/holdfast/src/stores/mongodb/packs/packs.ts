/**
 * Packs: documents of several jobs. What a write costs the server hardly depends on how much is in the
 * document, so plain jobs that come together wait together (`fresh.ts`), and those that are leased together
 * run together: one write leases them, and one settles those that end together.
 *
 * Only what is plain happens to a leased pack: its jobs succeed, and it is pruned whole.
 * Whoever wants anything else takes it apart first (`unpack.ts`), and goes on with the documents of its
 * jobs. Whoever only reads sees its jobs as if they were documents (`jobsOf`).
 *
 * The numbers of its jobs are near each other, so that a page that goes by the numbers finds them.
 */
import { randomUUID } from "node:crypto";
import type { LeaseRef } from "../../../core/store.ts";
import type { Document } from "../driver-like.ts";
import type { AnyPack, JobDocument, Pack, PackPlace, Tombstone } from "../schema.ts";
import { isPack, isTombstone } from "../schema.ts";
import { wholeJob } from "../whole-job.ts";

/** A part of what callers like to send and workers to take, so that few packs are taken in parts. */
export const MOST_IN_PACK = 50;
const MOST_CHARACTERS = 32 * 1024;
/** Between the first and the last of its numbers, which follow the time: five seconds. */
export const MOST_SPREAD = 5_000_000;
/** Of one result: with more, the document of a pack might outgrow what the server takes. */
export const MOST_RESULT_CHARACTERS = 4 * 1024;

/** A document that is to be inserted, and the jobs in it. */
export interface Parcel {
  readonly document: Document;
  readonly jobs: readonly JobDocument[];
}

/** Jobs that are leased together. `lease` is what all of them get. */
export function parcelsOf(jobs: readonly JobDocument[], lease: Document): Parcel[] {
  const alike = [...Map.groupBy(jobs, ({ type }) => type).values()];
  return alike
    .flatMap((some) => runsOf(some.toSorted(bySeq)))
    .map((run) => {
      // Follows the time, like the ids, and is nobody's.
      const _id = `${run[0].seq}-${randomUUID()}`;
      return {
        document: { _id, ...packOf(run), ...lease, left: run.length },
        jobs: run,
      };
    });
}

function bySeq(a: JobDocument, b: JobDocument): number {
  return a.seq - b.seq;
}

type Jobs = readonly [JobDocument, ...JobDocument[]];

/** As many together as fit into a document, and are near each other. */
function runsOf(jobs: readonly JobDocument[]): Jobs[] {
  const runs: [JobDocument, ...JobDocument[]][] = [];
  let characters = 0;
  for (const job of jobs) {
    const size = charactersOf(job);
    const run = runs.at(-1);
    const fits =
      run !== undefined &&
      hasRoom({ jobs: run, characters }, size) &&
      job.seq - run[0].seq <= MOST_SPREAD;
    if (fits) run.push(job);
    else runs.push([job]);
    characters = fits ? characters + size : size;
  }
  return runs;
}

/** For a job of so many characters more, in one document with these. */
export function hasRoom(
  { jobs, characters }: { readonly jobs: readonly unknown[]; readonly characters: number },
  more: number,
): boolean {
  return jobs.length < MOST_IN_PACK && characters + more <= MOST_CHARACTERS;
}

export function charactersOf({ payload, meta }: Pick<JobDocument, "payload" | "meta">): number {
  return payload.length + (meta?.length ?? 0);
}

/** What all of them have in common is said once. */
const OFTEN_ALIKE = ["group", "priority", "maxAttempts", "createdAt"] as const;
const OFTEN_ABSENT = ["tags", "meta", "trace"] as const;

function packOf(jobs: Jobs): Document & Pick<Pack, "ids"> {
  const [first] = jobs;
  const last = jobs.at(-1) ?? first;
  const shared: Document = {};
  const lists: Document = { payload: jobs.map(({ payload }) => payload) };
  if (last.seq - first.seq >= jobs.length) lists["seq"] = jobs.map(({ seq }) => seq);
  for (const name of OFTEN_ALIKE) {
    if (jobs.every((job) => job[name] === first[name])) shared[name] = first[name];
    else lists[name] = jobs.map((job) => job[name]);
  }
  for (const name of OFTEN_ABSENT) {
    if (jobs.some((job) => job[name] != null)) lists[name] = jobs.map((job) => job[name] ?? null);
  }
  return {
    ids: jobs.map(({ _id }) => _id),
    queue: first.queue,
    type: first.type,
    ...shared,
    n: jobs.length,
    first: first.seq,
    last: last.seq,
    pack: lists,
  };
}

/** What must have been read of a pack to know the numbers of its jobs. */
export const SEQS = { first: 1, "pack.seq": 1 };

/** The number of one of its jobs. */
export function seqAt({ pack, first }: Pick<Pack, "pack" | "first">, index: number): number {
  return pack.seq?.[index] ?? first + index;
}

/** In an expression of the server's: a pack each of whose lists is changed in the same way. */
export function eachList(pack: string, change: (list: string) => Document): Document {
  const changed = { k: "$$one.k", v: change("$$one.v") };
  return { $arrayToObject: { $map: { input: { $objectToArray: pack }, as: "one", in: changed } } };
}

/** Its jobs, as documents; one that is none has but itself. */
export function jobsOf(document: JobDocument | Pack): JobDocument[] {
  if (!isPack(document)) return [document];
  const { _id, ids, pack, results, ...rest } = document;
  const {
    n: _n,
    left: _left,
    first: _first,
    last: _last,
    ends: _ends,
    out: _out,
    stays: _stays,
    ...shared
  } = rest;
  const lists = Object.entries(pack);
  return ids.map((id, index) => {
    const own: Document = { _id: id, seq: seqAt(document, index) };
    for (const [name, list] of lists) own[name] = list[index];
    const packed: PackPlace = { pack: _id, index, n: ids.length };
    const endedAt = endOf(document, index);
    const job = wholeJob({ ...shared, ...own, packed, finishedAt: endedAt } as JobDocument);
    if (endedAt === null) return job;
    return {
      ...job,
      ...results?.[index],
      status: "succeeded" as const,
      updatedAt: endedAt,
      settledFence: shared.fence,
      leased: null,
      leaseUntil: null,
    };
  });
}

/** When this one of its jobs succeeded; null: it has not. */
export function endOf(
  { ends, status, finishedAt = null }: Pick<Pack, "ends" | "status" | "finishedAt">,
  index: number,
): number | null {
  return ends?.[index] ?? (status === "succeeded" && ends === undefined ? finishedAt : null);
}

/** What a pack says of its jobs, or what is remembered of them. A stub says nothing. */
export function saidBy(pack: AnyPack): (JobDocument | Tombstone)[] {
  if (isPack(pack)) return jobsOf(pack);
  if (!isTombstone(pack)) return [];
  const { _id, ids, ...memory } = pack;
  const all: readonly string[] = ids as readonly string[];
  const n = all.length;
  return all.map((id, index) => ({ ...memory, _id: id, packed: { pack: _id, index, n } }));
}

/** The handle of a job that was leased with its pack. Ids come last: they may be any text. */
export function handleOf({ pack, index, n }: PackPlace, id: string): string {
  return `pack ${index} ${n} ${pack} ${id}`;
}

const HANDLE = /^pack (\d+) (\d+) ([^ ]+) /;

/** Null: this job was not leased with a pack. */
export function placeOf({ handle, id }: Pick<LeaseRef, "handle" | "id">): PackPlace | null {
  const [start, index, n, pack] = HANDLE.exec(handle) ?? [];
  if (start === undefined || pack === undefined || handle !== start + id) return null;
  return { pack, index: Number(index), n: Number(n) };
}
