/**
 * Operations of one record never overtake each other, although all jobs of a sync wait in one line by priority and
 * age. A group for each record would keep its order as well, but groups take fair turns: priority and age would count
 * inside of a record only.
 *
 * A record of the store names the last jobs of each record of the CRM. Who enqueues writes those into the new job
 * (`meta.after`) and then its id in their place, before the enqueue is answered. A job whose forerunners have not
 * finished goes back unspent. Finished is what the store says: a job whose worker died after the call and before the
 * settle runs again before its followers do, not after them.
 */
import { StoreUnavailableError, type Holdfast, type JobView } from "holdfast";

interface Tails {
  /** Unfinished, as far as is known. */
  readonly after: readonly string[];
}

export interface Place {
  readonly key: string;
  readonly after: readonly string[];
  readonly version: number | null;
}

/** So many callers that enqueue for one record at the same moment are told apart. */
const MOST_TAILS = 20;
/** A job that waits longer was paused by people: then priority and age are its order. */
const KEPT_MS = 30 * 86_400_000;
const TRIES = 20;
const SOON_MS = 250;
const LONG_MS = 15_000;
/** A forerunner that waits for its retry may be retried or cancelled by hand. */
const LOOK_EVERY_MS = 60_000;

export class RecordOrder {
  readonly #hf: Holdfast;
  readonly #name: string;
  /** The last enqueue of each record in this process, while it is on its way. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(hf: Holdfast, name: string) {
    this.#hf = hf;
    this.#name = name;
  }

  /**
   * One after the other for each record: callers that find the same place would get jobs that do not wait for each
   * other, and more of them than can be named. Other processes are told apart by `take`.
   */
  async inLine<Out>(record: string, body: () => Promise<Out>): Promise<Out> {
    const before = this.#lines.get(record) ?? Promise.resolve();
    const own = before.then(body);
    const last = own.catch(() => {});
    this.#lines.set(record, last);
    try {
      return await own;
    } finally {
      if (this.#lines.get(record) === last) this.#lines.delete(record);
    }
  }

  /** Behind which jobs the next one of each of these records comes. */
  async places(records: readonly string[]): Promise<Place[]> {
    const keys = records.map((record) => `crm/${this.#name}/last/${keyOf(record)}`);
    try {
      const found = await this.#hf.records.read<Tails>(keys);
      return keys.map((key, at) => {
        const record = found[at];
        return { key, after: record?.value.after ?? [], version: record?.version ?? null };
      });
    } catch (error) {
      // A resilient Holdfast takes jobs while the store is away.
      if (!(error instanceof StoreUnavailableError)) throw error;
      return keys.map((key) => ({ key, after: [], version: null }));
    }
  }

  /**
   * This job is the last one there now. A job that was there before (a duplicate) is named besides the others: its
   * own enqueue may have ended before it was.
   */
  async take(place: Place, id: string, { isNew = true } = {}): Promise<void> {
    const passed = isNew ? place.after : [];
    let { version } = place;
    let after: readonly string[] = place.after;
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (after.includes(id)) return;
      const others = after.filter((one) => !passed.includes(one));
      const value: Tails = { after: [...others, id].slice(-MOST_TAILS) };
      const swap = { key: place.key, expect: version, value, ttlMs: KEPT_MS };
      const [result] = await this.#hf.records.swap<Tails>([swap]);
      if (!result || result.swapped) return;
      // Another one came in between, or this is our own write whose answer was lost.
      version = result.current?.version ?? null;
      after = result.current?.value.after ?? [];
    }
  }

  /** Null: its turn has come. Else how long it waits, unspent. */
  async waitMs(job: {
    readonly meta: Record<string, unknown> | null;
    readonly createdAt: Date;
  }): Promise<number | null> {
    const after = job.meta?.["after"];
    const ids = Array.isArray(after) ? after.filter((id) => typeof id === "string") : [];
    if (ids.length === 0) return null;
    const found = await Promise.all(ids.map((id) => this.#hf.job(id)));
    const open = found.filter((one): one is JobView => one !== null && !isFinished(one));
    if (open.length === 0) return null;
    const now = (await this.#hf.storeTime()).getTime();
    const dueAt = Math.max(...open.map(dueOf));
    if (dueAt > now) return Math.min(dueAt - now + SOON_MS, LOOK_EVERY_MS);
    const age = Math.max(0, now - job.createdAt.getTime());
    return Math.min(Math.max(SOON_MS, Math.round(age / 8)), LONG_MS);
  }
}

function isFinished({ status }: JobView): boolean {
  return status !== "queued" && status !== "processing";
}

function dueOf({ status, runAt }: JobView): number {
  return status === "queued" && runAt !== null ? runAt.getTime() : 0;
}

/** Keys of records take no spaces and no long texts: what is not plain is written out. */
function keyOf(record: string): string {
  return encodeURIComponent(record.toWellFormed()).slice(0, 400);
}
