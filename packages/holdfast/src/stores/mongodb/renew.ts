/**
 * Renewing. A lease that ran out but was not reaped is still its holder's: the fence decides, not the
 * time.
 *
 * A job that is locked, because it is being settled inside its holder's own transaction, cannot be
 * extended. It is kept, and that is noted beside it (`promises.ts`). Only what rides along cannot be written
 * then, and the answer says so: `busy`.
 *
 * Whoever renews a job of a pack takes that apart first: jobs that run for so long are few a second, and what
 * has a document of its own is renewed in one way only.
 */
import type { Renewal, RenewResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { edit } from "./edit.ts";
import { writeFree } from "./locks.ts";
import { lookUpJobs } from "./look-up.ts";
import { promise } from "./promises.ts";
import { placeOf } from "./packs/packs.ts";
import { unpack } from "./packs/unpack.ts";
import { isHeldBy, takeAlong } from "./updates.ts";
import type { JobDocument } from "./schema.ts";

export async function renew(
  db: Database,
  renewals: readonly Renewal[],
  leaseMs: number,
): Promise<RenewResult[]> {
  const light = renewals.filter(({ updates }) => updates === undefined);
  const heavy = renewals.filter(({ updates }) => updates !== undefined);
  const [lightResults, heavyResults] = await Promise.all([
    light.length === 0 ? [] : renewLight(db, light, leaseMs),
    heavy.length === 0 ? [] : renewHeavy(db, heavy, leaseMs),
  ]);
  const results = new Map<Renewal, RenewResult>();
  for (const [index, renewal] of light.entries()) {
    results.set(renewal, lightResults[index] ?? "lost");
  }
  for (const [index, renewal] of heavy.entries()) {
    results.set(renewal, heavyResults[index] ?? "lost");
  }
  return renewals.map((renewal) => results.get(renewal) ?? "lost");
}

async function renewLight(
  db: Database,
  renewals: readonly Renewal[],
  leaseMs: number,
): Promise<RenewResult[]> {
  const apart = await unpack(
    db,
    renewals.flatMap((renewal) => placeOf(renewal)?.pack ?? []),
  );
  const now = await db.now();
  const leaseUntil = instantAfter(now, leaseMs);
  const locked = await extend(db, renewals, { leaseUntil, updatedAt: now });
  const unwritten = renewals.filter((renewal) => locked.has(renewal) || apart.has(renewal.id));
  await promise(db, unwritten, leaseUntil);
  const ids = renewals.map(({ id }) => id);
  const projection = { status: 1, fence: 1, cancelWhy: 1, gone: 1 };
  const { jobs } = await lookUpJobs(db, ids, projection);
  return renewals.map((renewal) => {
    const job = jobs.get(renewal.id) ?? null;
    if (!isHeldBy(job, renewal)) return "lost";
    return job.cancelWhy == null ? "kept" : "cancel";
  });
}

/**
 * Jobs that were leased together have the same fence, and are extended by one statement. Answers those
 * that are locked.
 */
function extend(
  db: Database,
  renewals: readonly Renewal[],
  extended: Document,
): Promise<ReadonlySet<Renewal>> {
  return writeFree(db, renewals, {
    nameOf: ({ id }) => id,
    write(to, some, limits) {
      const kinds = Map.groupBy(some, ({ starts }) => starts === true);
      const together = [...kinds.values()].flatMap((kind) => [
        ...Map.groupBy(kind, ({ fence }) => fence).values(),
      ]);
      const operations = together.map((alike) => extension(alike, extended));
      return to.bulk("jobs", operations, limits);
    },
  });
}

function extension(renewals: readonly Renewal[], extended: Document): Document {
  const _id = { $in: renewals.map(({ id }) => id) };
  const { fence, starts } = renewals[0] ?? {};
  const update = { $set: extended, ...(starts === true && { $unset: { unstarted: "" } }) };
  return { updateMany: { filter: { _id, fence, status: "processing" }, update } };
}

async function renewHeavy(
  db: Database,
  renewals: readonly Renewal[],
  leaseMs: number,
): Promise<RenewResult[]> {
  const edits = renewals.map((renewal) => ({
    id: renewal.id,
    ifLocked: () => "busy" as const,
    think(job: Parameters<typeof isHeldBy>[0], now: number) {
      if (!isHeldBy(job, renewal)) return { answer: "lost" as const };
      const updates = isNews(job, renewal) ? takeAlong(job, renewal.updates ?? {}, now) : {};
      const order = isNews(job, renewal) ? renewal.order : undefined;
      return {
        answer: job.cancelWhy == null ? ("kept" as const) : ("cancel" as const),
        changes: {
          leaseUntil: instantAfter(now, leaseMs),
          updatedAt: now,
          ...updates,
          ...(order === undefined ? {} : { updatesOrder: order }),
          ...(renewal.starts === true ? { unstarted: null } : {}),
        },
      };
    },
  }));
  const results = await edit<RenewResult>(db, edits, { payload: 0, result: 0, history: 0 });
  const unwritten = renewals.filter((_, index) => results[index] === "busy");
  if (unwritten.length > 0) await promise(db, unwritten, instantAfter(await db.now(), leaseMs));
  return results;
}

/** Not a repeat, and not overtaken by a later renewal of the same attempt. */
function isNews(job: JobDocument, { order }: Renewal): boolean {
  return order === undefined || order > (job.updatesOrder ?? 0);
}
