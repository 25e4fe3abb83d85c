/**
 * Idempotency keys. A key belongs to one job of its queue for a lifetime: `kept`, as long as the job is
 * kept; `until-finished`; or a time from the insert, also when the job has been pruned meanwhile. While
 * it is a job's, the job has the field `k`, and a unique index lets nobody else have it.
 */
import { isFinished, type DedupeKey, type JobStatus } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import { forget } from "./packs/fresh.ts";
import { lookUp } from "./look-up.ts";
import { isRemembered } from "./moves.ts";
import {
  isStub,
  isTombstone,
  pair,
  type AnyJob,
  type AnyPack,
  type JobDocument,
} from "./schema.ts";
import { shrink } from "./packs/unpack.ts";

interface Keyed {
  readonly queue: string;
  readonly status: JobStatus;
  readonly createdAt: number;
  readonly dedupe?: DedupeKey | null;
}

/** The fields of the key that this job takes, if its lifetime has a rest. */
export function keyOf(
  { queue, status, createdAt, dedupe }: Keyed,
  now: number,
): Pick<JobDocument, "k" | "kx"> {
  if (dedupe == null) return {};
  const { key, lifetime } = dedupe;
  if (lifetime === "until-finished" && isFinished(status)) return {};
  if (typeof lifetime !== "object") return { k: pair(queue, key) };
  const kx = instantAfter(createdAt, lifetime.ttlMs);
  return kx <= now ? {} : { k: pair(queue, key), kx };
}

/** The key it asks for, whether it takes it or not. */
export function askedKey({ queue, dedupe }: JobDocument): string | null {
  return dedupe == null ? null : pair(queue, dedupe.key);
}

/** What stands in the way of new jobs, by id and by key. */
export class Standers {
  readonly #byId = new Map<string, AnyJob>();
  readonly #byKey = new Map<string, AnyJob>();
  readonly #now: number;

  private constructor(now: number) {
    this.#now = now;
  }

  static async inTheWayOf(
    db: Database,
    jobs: readonly JobDocument[],
    now: number,
  ): Promise<Standers> {
    const ids = jobs.map(({ _id }) => _id);
    const keys = jobs.flatMap((job) => askedKey(job) ?? []);
    const found = new Standers(now);
    const projection = { payload: 0, result: 0, steps: 0, logs: 0, history: 0, checkpoint: 0 };
    const named = await lookUp(db, ids, projection);
    for (const job of named.jobs.values()) found.add(job);
    const holders = { k: { $in: keys } };
    if (keys.length > 0) {
      for (const job of await db.find<AnyJob>("jobs", holders, { projection })) found.add(job);
    }
    const forgotten = await found.#clearExpired(db);
    // A forgotten job may still have its id in the stub of its pack: inside a transaction, too, where a refusal by
    // the index would be the end of it.
    const missing = new Set([...ids.filter((id) => !named.jobs.has(id)), ...forgotten]);
    const ofForgotten =
      forgotten.length === 0 ? [] : await db.find<AnyPack>("jobs", { ids: { $in: forgotten } }, {});
    const stubs = [...named.packs, ...ofForgotten].filter(isStub);
    await shrink(
      db,
      stubs.filter((stub) => stub.ids.some((id) => missing.has(id))),
    );
    return found;
  }

  add(job: AnyJob): void {
    this.#byId.set(job._id, job);
    if (job.k != null) this.#byKey.set(job.k, job);
  }

  /** Why this job cannot be added; null if it can. The id is asked first. */
  refusal(job: JobDocument): Extract<InsertResult, { readonly id: string }> | null {
    const same = this.#byId.get(job._id);
    if (same !== undefined) {
      // Nobody else has its number: it is this very one, from a try that was cut short.
      if (!isTombstone(same) && same.seq === job.seq && same !== job) {
        return { outcome: "added", id: same._id };
      }
      return { outcome: "duplicate", id: same._id, status: statusOf(same) };
    }
    const key = askedKey(job);
    const holder = key === null ? undefined : this.#byKey.get(key);
    if (holder === undefined) return null;
    const isSame = hashOf(holder) === job.dedupe?.hash;
    const outcome = isSame ? "duplicate" : "conflict";
    return { outcome, id: holder._id, status: statusOf(holder) };
  }

  /** Whose key it is that this job asks for. */
  holderOf(job: JobDocument): string | null {
    const key = askedKey(job);
    return key === null ? null : (this.#byKey.get(key)?._id ?? null);
  }

  /** From now on it is this job's. */
  take(job: JobDocument): void {
    const key = askedKey(job);
    if (key !== null) this.#byKey.set(key, job);
  }

  /**
   * What is past its time stands in nobody's way, but it must be taken away before one can pass. Answers the ids of
   * jobs that are forgotten now.
   */
  async #clearExpired(db: Database): Promise<string[]> {
    const now = this.#now;
    const forgotten: string[] = [];
    for (const job of [...this.#byId.values()]) {
      if (isTombstone(job) && !isRemembered(job, now)) {
        await forget(db, { _id: job.packed?.pack ?? job._id, gone: { $lte: now } }, 1);
        forgotten.push(job._id);
        this.#byId.delete(job._id);
        if (job.k != null) this.#byKey.delete(job.k);
      } else if (job.k != null && job.kx != null && job.kx <= now) {
        const filter = { _id: job._id, k: job.k, kx: { $lte: now } };
        await db.updateMany("jobs", filter, [{ $unset: ["k", "kx"] }]);
        this.#byKey.delete(job.k);
      }
    }
    return forgotten;
  }
}

function statusOf(job: AnyJob): JobStatus | "pruned" {
  return isTombstone(job) ? "pruned" : job.status;
}

function hashOf(job: AnyJob): string | undefined {
  return isTombstone(job) ? job.hash : job.dedupe?.hash;
}
