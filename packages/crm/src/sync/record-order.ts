/**
 * Operations of one record never overtake each other, although all jobs of a sync wait in one line by priority and
 * age, and whichever processes enqueue them. A group for each record would keep its order as well, but groups take
 * fair turns: priority and age would count inside of a record only.
 *
 * A record of the store is the line of one record of the CRM (`record-line.ts`), changed by compare-and-set. An enqueue
 * takes the next place before it stores its job (`meta.place`), so two processes never get the same one. A job starts
 * once all in front of it have finished, which it writes into the line as well: of two jobs that both believe that
 * their turn has come, one loses that race and looks again. Finished is what the store says: a job whose worker died
 * after the call and before the settle runs again before its followers do, not after them.
 *
 * A job without a place joins at the end when it runs. It may be older than what is written by then, as is a dead one
 * that a person retries: the line knows which values a newer job has written, and these are stale.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { StoreUnavailableError, type Holdfast, type JobView } from "holdfast";
import {
  emptyLine,
  givePlaceBack,
  indexInLine,
  isFull,
  joinAgain,
  moveToEnd,
  namePlace,
  noteWritten,
  staleValues,
  startInLine,
  takePlace,
  type LineJob,
  type LinePlace,
  type RecordLine,
} from "./record-line.ts";

export type Turn =
  /** It waits so long, unspent. */
  | { readonly waitMs: number }
  /** Its turn has come; these values must not be written any more. */
  | { readonly waitMs: null; readonly stale: ReadonlySet<string> };

/** A job that was dead for longer is taken for a new one. */
const KEPT_MS = 90 * 86_400_000;
/** Of one change of a line. Who loses a race lost it to a change that was made. */
const TRIES = 100;
const SOON_MS = 250;
const LONG_MS = 15_000;
/** A forerunner that waits for its retry may be retried or cancelled by hand. */
const LOOK_EVERY_MS = 60_000;
/** So long a place may be without its job: the enqueue is on its way, or its process is gone. */
const UNNAMED_MS = 30_000;
const MOST_KEY_CHARS = 400;
const AT_ONCE = 50;

export class RecordOrder {
  readonly #hf: Holdfast;
  readonly #name: string;
  /** The last enqueue of each record in this process, while it is on its way. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(hf: Holdfast, name: string) {
    this.#hf = hf;
    this.#name = name;
  }

  /** One after the other for each record in this process: callers that do not wait get places in their order. */
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

  /** The next place, for a job that is stored after this. Null: it joins when it runs. */
  async take(record: string): Promise<number | null> {
    try {
      const line = await this.#change(record, (now) => (isFull(now) ? null : takePlace(now)));
      return line?.last ?? null;
    } catch (error) {
      // A resilient Holdfast takes jobs while the store is away.
      if (error instanceof StoreUnavailableError) return null;
      throw error;
    }
  }

  /** Whose place it is. */
  async name(record: string, place: number, id: string): Promise<void> {
    await this.#unlessAway(record, (line) => namePlace(line, place, id));
  }

  /** No job came of it. */
  async giveBack(record: string, place: number): Promise<void> {
    await this.#unlessAway(record, (line) => givePlaceBack(line, place));
  }

  /** The same was asked for again; a job that runs already stays where it is. */
  async repeat(record: string, id: string, payload: unknown): Promise<void> {
    await this.#unlessAway(record, async (line) => {
      const job = await this.#hf.job(id);
      // One with another payload is not what was asked for: it brings what the first one says.
      const isSame = job?.status === "queued" && isDeepStrictEqual(job.payload, payload);
      return isSame ? moveToEnd(line, id) : null;
    });
  }

  /** Asked when a job is about to run. */
  async begin(record: string, job: LineJob, values: readonly string[]): Promise<Turn> {
    const turn: { current: Turn } = { current: { waitMs: LONG_MS } };
    await this.#change(record, async (line) => {
      const isThere = indexInLine(line, job) >= 0;
      const withIt = isThere || isFull(line) ? line : joinAgain(line, job);
      const index = indexInLine(withIt, job);
      const front = index < 0 ? line.places : withIt.places.slice(0, index);
      const waitMs = await this.#waitMs(front, job);
      if (waitMs !== null) {
        turn.current = { waitMs };
        return withIt === line ? null : withIt;
      }
      turn.current = { waitMs, stale: staleValues(withIt, job, values) };
      return startInLine(index < 0 ? joinAgain({ ...line, places: [] }, job) : withIt, job);
    });
    return turn.current;
  }

  /** It has written these values. Before it settles: it is still the first of its line. */
  async wrote(record: string, job: LineJob, values: readonly string[]): Promise<void> {
    if (values.length === 0) return;
    await this.#change(record, (line) => noteWritten(line, job, values));
  }

  /** Null: nobody in front of it is left. */
  async #waitMs(places: readonly LinePlace[], job: LineJob): Promise<number | null> {
    if (places.length === 0) return null;
    const now = (await this.#hf.storeTime()).getTime();
    const age = Math.max(0, now - job.createdAt.getTime());
    const open = await this.#open(places, age);
    if (open === null) return null;
    const dueAt = Math.max(...open.map(dueOf));
    if (dueAt > now) return Math.min(dueAt - now + SOON_MS, LOOK_EVERY_MS);
    // One that runs ends soon, and few run at a time. One that waits may wait long, and there may be many of them.
    if (open.some(({ status }) => status === "processing")) {
      return Math.min(SOON_MS * places.length, LONG_MS);
    }
    return Math.min(Math.max(SOON_MS, Math.round(age / 8)), LONG_MS);
  }

  /** Null: none. The first and the last are asked first: of a long line one of them tells. */
  async #open(places: readonly LinePlace[], age: number): Promise<readonly JobView[] | null> {
    // The job behind it is younger than the place: that one was taken before this job was stored.
    if (age < UNNAMED_MS && places.some(([, id]) => id === null)) return [];
    const ids = places.flatMap(([, id]) => id ?? []);
    const ends = ids.length > 2 ? [ids[0]!, ids.at(-1)!] : ids;
    const parts = [ends, ...chunks(ids.slice(1, -1), AT_ONCE)];
    for (const part of parts) {
      const found = await Promise.all(part.map((id) => this.#hf.job(id)));
      const open = found.filter((one): one is JobView => one !== null && !isFinished(one));
      if (open.length > 0) return open;
    }
    return null;
  }

  /** Null changes nothing, and is answered. */
  async #change(
    record: string,
    change: (line: RecordLine) => RecordLine | null | Promise<RecordLine | null>,
  ): Promise<RecordLine | null> {
    const key = `crm/${this.#name}/line/${keyOf(record)}`;
    let found = await this.#hf.records.get<RecordLine>(key);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const value = await change(found?.value ?? emptyLine(Date.now()));
      if (value === null || value === found?.value) return value;
      const swap = { key, expect: found?.version ?? null, value, ttlMs: KEPT_MS };
      const [result] = await this.#hf.records.swap<RecordLine>([swap]);
      if (!result || result.swapped) return value;
      found = result.current;
    }
    throw new StoreUnavailableError(`the line of a record of ${this.#name} changes all the time`, {
      mayHaveHappened: false,
    });
  }

  /** The job is stored, or is not: what was to be said of its place is found out later, too. */
  async #unlessAway(
    record: string,
    change: (line: RecordLine) => RecordLine | null | Promise<RecordLine | null>,
  ): Promise<void> {
    try {
      await this.#change(record, change);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
}

function isFinished({ status }: JobView): boolean {
  return status !== "queued" && status !== "processing";
}

function dueOf({ status, runAt }: JobView): number {
  return status === "queued" && runAt !== null ? runAt.getTime() : 0;
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Keys of records take no spaces and no long texts: what is not plain is written out, what is long is hashed. */
function keyOf(record: string): string {
  const plain = encodeURIComponent(record.toWellFormed());
  if (plain.length <= MOST_KEY_CHARS) return plain;
  const hash = createHash("sha256").update(record.toWellFormed()).digest("hex");
  return `${plain.slice(0, MOST_KEY_CHARS - hash.length - 1)}.${hash}`;
}
