/**
 * Reaping: leases that ran out, the longest expired first. The fence moves on, or the old holder's
 * late settle would look like the repeat of one that happened. It kills nothing: who has crashed too
 * often is decided at the next lease. Also the chore that does what dead settlers have left undone.
 */
import { historyWith } from "../../core/history.ts";
import type { ReapedJob } from "../../core/store.ts";
import { fenceAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import { disownedBy, leaseName, type Disowned } from "./disown.ts";
import { edit, type Changes, type Edit } from "./edit.ts";
import { clearIds } from "./packs/fresh.ts";
import { putBack, takeBack } from "./moves.ts";
import { carryOutUndone } from "./follow-ups.ts";
import { endOf, seqAt, SEQS } from "./packs/packs.ts";
import { promisedAmong } from "./promises.ts";
import { isPack, isTombstone, type JobDocument, type Pack } from "./schema.ts";
import { sealStretches } from "./seal-stretches.ts";
import type { Told } from "./told.ts";
import { tidyPacks, unpack } from "./packs/unpack.ts";

export async function reap(
  db: Database,
  { limit }: { readonly limit: number },
  told: Told,
): Promise<ReapedJob[]> {
  const now = await db.now();
  const reaped: ReapedJob[] = [];
  const missed: string[] = [];
  for (let round = 0; reaped.length < limit && round < MOST_ROUNDS; round++) {
    const over = await expired(db, { now, limit: limit - reaped.length, missed });
    if (over.length === 0) break;
    // Taken apart whatever becomes of their jobs: one that was settled in a caller's transaction has a
    // document of its own, and whoever should have seen to its pack may be dead.
    await unpack(db, new Set(over.flatMap(({ pack }) => pack ?? [])), ASKS_FIRST);
    const ids = over.map(({ id }) => id);
    const names = over.map(({ id, fence }) => leaseName({ _id: id, fence }));
    const [disowned, promised] = await Promise.all([
      disownedBy(db, new Set(over.map(({ worker }) => worker)), now),
      promisedAmong(db, names, now),
    ]);
    const edits = ids.map((id) => reapOne(id, { disowned, promised, told }));
    const done = (await edit(db, edits, NEEDLESS, ASKS_FIRST)).filter((one) => one !== null);
    reaped.push(...done);
    // Whoever took them may have died before they were cleared.
    await clearIds(
      db,
      done.map(({ id }) => id),
    );
    if (done.length === ids.length) break;
    // Some were renewed or settled at this moment: others may have run out as well.
    missed.push(...ids.filter((id) => !done.some((one) => one.id === id)));
  }
  // What was put back must not wait for the chore: the next call does it, or another process.
  if (reaped.length > 0) return reaped;
  await carryOutUndone(db, now, told);
  await tidyPacks(db, now, TIDIED_AT_ONCE);
  await sealStretches(db);
  return reaped;
}

const MOST_ROUNDS = 5;
/** What ran out may well be in a transaction: of a holder that renews nothing meanwhile, or that was killed. */
const ASKS_FIRST = { asksFirst: true };
const TIDIED_AT_ONCE = 20;
const NEEDLESS = { payload: 0, result: 0, steps: 0, checkpoint: 0, logs: 0 };

/** Those that ran out first: the index says which, and no others are read. */
async function expired(
  db: Database,
  look: { readonly now: number; readonly limit: number; readonly missed: readonly string[] },
): Promise<Running[]> {
  const { now, limit, missed } = look;
  const others = missed.length === 0 ? {} : { _id: { $nin: missed }, ids: { $nin: missed } };
  const isOver = { leased: { $gte: "" }, leaseUntil: { $lte: now }, ...others };
  // Of each kind as many as may be reaped, in their order. A pack has no number of its own. One that is
  // being taken apart is looked at, too: its documents may not be there yet.
  const kinds = [{ $gt: 0 }, null].map((seq) =>
    db.find<JobDocument | Pack>(
      "jobs",
      { ...isOver, seq },
      {
        sort: { leaseUntil: 1, seq: 1, first: 1 },
        limit,
        projection: RUNNING,
        hint: "leased",
        allowDiskUse: true,
      },
    ),
  );
  const running = (await Promise.all(kinds)).flat().flatMap(runningIn);
  running.sort((a, b) => a.until - b.until || a.seq - b.seq);
  return running.slice(0, limit);
}

const RUNNING = { seq: 1, fence: 1, leaseUntil: 1, worker: 1, ids: 1, ends: 1, status: 1, ...SEQS };

interface Running {
  readonly id: string;
  readonly until: number;
  readonly seq: number;
  readonly fence: number;
  readonly worker: string;
  readonly pack: string | null;
}

function runningIn(document: JobDocument | Pack): Running[] {
  const until = document.leaseUntil ?? 0;
  const worker = document.worker ?? "";
  const { _id, fence } = document;
  if (!isPack(document)) return [{ id: _id, until, seq: document.seq, fence, worker, pack: null }];
  const all = document.ids.map((id, index) => {
    return { id, until, seq: seqAt(document, index), fence, worker, pack: _id };
  });
  return all.filter((_, index) => endOf(document, index) === null);
}

/** What its holder never started, or never knew of, cannot have killed it. */
function isCharged(job: JobDocument, disowned: Disowned): boolean {
  if (job.unstarted === true) return false;
  const except = disowned.get(job.worker ?? "");
  return except == null || except.has(leaseName(job));
}

function reapOne(
  id: string,
  {
    disowned,
    promised,
    told,
  }: {
    readonly disowned: Disowned;
    readonly promised: ReadonlySet<string>;
    readonly told: Told;
  },
): Edit<ReapedJob | null> {
  return {
    id,
    ifLocked: () => null,
    think(job, now) {
      if (job === null || isTombstone(job) || job.status !== "processing") return { answer: null };
      if ((job.leaseUntil ?? Infinity) > now) return { answer: null };
      if (promised.has(leaseName(job))) return { answer: null };
      const worker = job.worker ?? "";
      // Somebody else has leased it since, and it was not asked about that one.
      if (!disowned.has(worker)) return { answer: null };
      const charged = isCharged(job, disowned);
      const changes: Changes = charged
        ? {
            history: historyWith(job, { outcome: "crashed", failure: null, now }),
            ...putBack(job, { now, told }),
            crashes: job.crashes + 1,
            fence: fenceAfter(job.fence, now),
          }
        : takeBack(job, { now, told });
      const { queue, group, type, attempts, crashes } = { ...job, ...changes };
      const status = job.cancelWhy == null ? "queued" : "cancelled";
      return {
        answer: { id, queue, group, type, worker, attempts, crashes, charged, status },
        changes,
        // A renewal changes nothing but these.
        provided: { leaseUntil: { $lte: now }, ...(job.unstarted === true && { unstarted: true }) },
      };
    },
  };
}
