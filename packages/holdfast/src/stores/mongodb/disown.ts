/**
 * Disowning: a worker that lost the reply of a lease says what it has, and everything else under its id
 * goes back. First the id is written down, then the leases are looked through: one that comes later is
 * found by `reap`, which asks for the ids of those whose leases ran out.
 */
import type { DisownRequest } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import { edit, type Edit } from "./edit.ts";
import { clearIds } from "./packs/fresh.ts";
import { takeBack } from "./moves.ts";
import { endOf } from "./packs/packs.ts";
import {
  isPack,
  isTombstone,
  type DisownedDocument,
  type JobDocument,
  type Pack,
} from "./schema.ts";
import type { Told } from "./told.ts";

/** At least as long as a call may be on its way. */
const REMEMBERED_MS = 3_600_000;
const AT_ONCE = 1_000;
const NEEDLESS = { payload: 0, result: 0, steps: 0, checkpoint: 0, logs: 0, history: 0 };

/** By worker: the leases that it knew of. Null: it has disowned nothing. */
export type Disowned = ReadonlyMap<string, ReadonlySet<string> | null>;

/** Fences are not unique between jobs. */
export function leaseName({ _id, fence }: Pick<JobDocument, "_id" | "fence">): string {
  return `${_id}:${fence}`;
}

export async function disown(
  db: Database,
  { worker, except }: DisownRequest,
  told: Told,
): Promise<number> {
  const now = await db.now();
  const names = except.map(({ id, fence }) => leaseName({ _id: id, fence }));
  await remember(db, { _id: worker, except: names, forgetAt: instantAfter(now, REMEMBERED_MS) });
  const kept = new Set(names);
  let total = 0;
  // Again, until there are none: a pack that is being taken apart moves while one looks.
  for (let back = Infinity; back > 0; total += back) {
    const ids = await leasedBy(db, worker, kept);
    back = await giveBack(db, ids, disownOne({ worker, kept, told }));
  }
  return total;
}

async function remember(db: Database, { _id, ...said }: DisownedDocument): Promise<void> {
  const write = { replaceOne: { filter: { _id }, replacement: said, upsert: true } };
  await db.bulk("disowned", [write]);
}

/** Running jobs are few: looking through them costs less than an index of workers. */
async function leasedBy(
  db: Database,
  worker: string,
  kept: ReadonlySet<string>,
): Promise<string[]> {
  const filter = { leased: { $gte: "" }, worker };
  const projection = { fence: 1, ids: 1, ends: 1, status: 1, finishedAt: 1, "pack.seq": 1 };
  const found = await db.find<JobDocument | Pack>("jobs", filter, { projection, hint: "leased" });
  const leased = found.flatMap((document) => {
    const { fence } = document;
    if (!isPack(document)) return [{ _id: document._id, fence }];
    const running = document.ids.filter((_, index) => endOf(document, index) === null);
    return running.map((_id) => ({ _id, fence }));
  });
  const ids = leased.filter((lease) => !kept.has(leaseName(lease))).map(({ _id }) => _id);
  return [...new Set(ids)];
}

/** Answers how many. */
async function giveBack(
  db: Database,
  ids: readonly string[],
  editOf: (id: string) => Edit<boolean>,
): Promise<number> {
  let back = 0;
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = ids.slice(start, start + AT_ONCE);
    const done = await edit(db, some.map(editOf), NEEDLESS);
    const own = some.filter((_, index) => done[index] === true);
    // Whoever took them may not have cleared them.
    await clearIds(db, own);
    back += own.length;
  }
  return back;
}

function disownOne(how: {
  readonly worker: string;
  readonly kept: ReadonlySet<string>;
  readonly told: Told;
}): (id: string) => Edit<boolean> {
  const { worker, kept, told } = how;
  return (id) => ({
    id,
    // It is being settled: somebody knows of it.
    ifLocked: () => false,
    think(job, now) {
      const isLeased = job !== null && !isTombstone(job) && job.status === "processing";
      if (!isLeased || job.worker !== worker || kept.has(leaseName(job))) return { answer: false };
      return { answer: true, changes: takeBack(job, { now, told }) };
    },
  });
}

/** Asked by `reap` about the holders of leases that ran out. */
export async function disownedBy(
  db: Database,
  workers: ReadonlySet<string>,
  now: number,
): Promise<Disowned> {
  const filter = { _id: { $in: [...workers] }, forgetAt: { $gt: now } };
  const found = await db.find<DisownedDocument>("disowned", filter);
  const said = new Map(found.map(({ _id, except }) => [_id, new Set(except)]));
  return new Map([...workers].map((worker) => [worker, said.get(worker) ?? null]));
}

/** A chore. They are few. */
export async function forgetDisowned(db: Database, now: number): Promise<void> {
  await db.deleteMany("disowned", { forgetAt: { $lte: now } });
}
