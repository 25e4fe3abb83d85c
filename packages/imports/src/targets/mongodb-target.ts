/**
 * Rows into a collection of MongoDB. On a replica set a batch and how far the import has come are one transaction.
 * A single server has none: there a batch says first what it is about to insert, so that it counts the same when
 * it is written again after a kill.
 */
import { InvalidOptionError } from "holdfast";
import { ImportTargetError } from "../errors.ts";
import { checkOptions, checkText } from "../option-checks.ts";
import { cleanReason } from "../schema/row-schema.ts";
import { byRow, keyText, present } from "./batch-rows.ts";
import {
  isDbLike,
  isDuplicateKey,
  openDb,
  rowFaultsOf,
  type CollectionLike,
  type DbLike,
  type Document,
  type OpenedDb,
  type RowFault,
  type SessionLike,
} from "./mongodb-driver.ts";
import { MongodbProgress } from "./mongodb-progress.ts";
import type {
  Batch,
  BatchAnswer,
  Beginning,
  Ending,
  ImportState,
  ImportTarget,
  RowError,
  RowKey,
  TargetRow,
} from "./target.ts";

export interface MongodbTargetOptions {
  /** Your own `Db`; or else `url`, with the database in it. */
  readonly db?: DbLike | undefined;
  readonly url?: string | undefined;
  readonly collection: string;
}

/** More than a process runs imports at once. */
const MOST_SESSIONS = 200;

interface Place {
  readonly db: DbLike;
  readonly rows: CollectionLike;
  readonly progress: MongodbProgress;
  readonly hasTransactions: boolean;
  close(): Promise<void>;
}

export function mongodbTarget(options: MongodbTargetOptions): ImportTarget {
  checkOptions("mongodbTarget", options, ["db", "url", "collection"]);
  const { db, url, collection } = options;
  if ((db === undefined) === (url === undefined)) {
    throw new InvalidOptionError("mongodbTarget takes either a db or a url");
  }
  if (db !== undefined && !isDbLike(db)) {
    throw new InvalidOptionError("db must be a Db of the package mongodb: client.db(name)");
  }
  if (url !== undefined) checkText("url", url);
  checkText("collection", collection);
  return new MongodbTarget(options);
}

class MongodbTarget implements ImportTarget {
  readonly name: string;
  readonly #options: MongodbTargetOptions;
  #place: Promise<Place> | null = null;
  /**
   * One for each attempt that is under way here, by its job and fence. An attempt that failed keeps its own until the next one: a session that
   * the next attempt may end must not be used by anything else. For many there is none, or none here: the oldest go.
   */
  readonly #sessions = new Map<string, SessionLike>();

  constructor(options: MongodbTargetOptions) {
    this.#options = options;
    this.name = `collection ${options.collection}`;
  }

  async prepare(keyFields: readonly string[]): Promise<void> {
    const { rows } = await this.#open();
    const { collection } = this.#options;
    if (keyFields.length === 1 && keyFields[0] === "_id") return;
    const index = Object.fromEntries(keyFields.map((field) => [field, 1]));
    try {
      await rows.createIndex(index as never, { unique: true });
    } catch (error) {
      if (!isDuplicateKey(error) && !isOtherIndex(error)) throw error;
      throw new ImportTargetError(
        `the collection ${collection} cannot have a unique index on ${keyFields.join(", ")}: ` +
          (isDuplicateKey(error)
            ? "it has several documents of one key; remove those that are too many"
            : "there is one that is not unique; drop it"),
        { cause: error },
      );
    }
  }

  async begin(beginning: Beginning): Promise<ImportState> {
    const place = await this.#open();
    if (!place.hasTransactions) return place.progress.begin(beginning);
    const session = place.db.client.startSession();
    this.#sessions.set(attemptOf(beginning), session);
    const state = await place.progress.begin(beginning, session.id ?? null);
    // Only now, with the new one known as this import's, are those of attempts before free for others.
    await this.#endSessions((job, fence) => job === beginning.job && fence < beginning.fence);
    const tooMany = [...this.#sessions.keys()].slice(0, -MOST_SESSIONS);
    for (const attempt of tooMany) await place.progress.disown(...partsOf(attempt));
    await this.#endSessions((job, fence) => tooMany.includes(attemptOf({ job, fence })));
    return state;
  }

  async write(batch: Batch): Promise<BatchAnswer> {
    const place = await this.#open();
    if (!place.hasTransactions) return writeWithPlan(place, batch);
    const own = this.#sessions.get(attemptOf(batch));
    if (own) return writeInTransaction(place, own, batch);
    const session = place.db.client.startSession();
    try {
      return await writeInTransaction(place, session, batch);
    } finally {
      await session.endSession();
    }
  }

  async finish(ending: Ending): Promise<void> {
    await (await this.#open()).progress.finish(ending);
    await this.#endSessions((job) => job === ending.job);
  }

  async caution(): Promise<string | null> {
    const { hasTransactions } = await this.#open();
    if (hasTransactions) return null;
    return (
      `${this.name} is on a single MongoDB server, which has no transactions: a worker that was away for longer than its lease ` +
      "may write rows of its last batch once more, over what came later; use a replica set, of one member at least"
    );
  }

  async failures(job: string, limit: number): Promise<readonly RowError[]> {
    return (await this.#open()).progress.failures(job, limit);
  }

  async existing(keys: readonly RowKey[]): Promise<readonly boolean[]> {
    return existingIn((await this.#open()).rows, keys);
  }

  async close(): Promise<void> {
    const place = await this.#place?.catch(() => null);
    this.#place = null;
    await this.#endSessions(() => true);
    await place?.close();
  }

  async #endSessions(isMeant: (job: string, fence: number) => boolean): Promise<void> {
    for (const [attempt, session] of this.#sessions) {
      if (!isMeant(...partsOf(attempt))) continue;
      this.#sessions.delete(attempt);
      await session.endSession();
    }
  }

  #open(): Promise<Place> {
    this.#place ??= this.#connect().catch((error: unknown) => {
      this.#place = null;
      throw error;
    });
    return this.#place;
  }

  async #connect(): Promise<Place> {
    const { db: given, url, collection } = this.#options;
    const opened: OpenedDb = given ? { db: given, async close() {} } : await openDb(url as string);
    const { db, close } = opened;
    const { setName, msg } = await db.command({ hello: 1 });
    const hasTransactions = typeof setName === "string" || msg === "isdbgrid";
    const progress = new MongodbProgress(db);
    return { db, rows: db.collection(collection), progress, hasTransactions, close };
  }
}

function attemptOf({ job, fence }: Pick<Batch, "job" | "fence">): string {
  return `${job}/${fence}`;
}

function partsOf(attempt: string): [job: string, fence: number] {
  const [job = "", fence] = attempt.split("/");
  return [job, Number(fence)];
}

/** The transaction ends with the first row that is refused: that row is left out, and the rest begins again. */
async function writeInTransaction(
  { rows: collection, progress }: Place,
  session: SessionLike,
  batch: Batch,
): Promise<BatchAnswer> {
  const refused = new Map<number, string>();
  const seen = new Set<number>();
  for (;;) {
    const rows = batch.rows.filter(({ row }) => !refused.has(row));
    try {
      return await session.withTransaction(async () => {
        const { upsertedCount } = await put(collection, rows, { session });
        const answer = answerOf(batch, refused, upsertedCount);
        await progress.advance(batch, answer, { session });
        return answer;
      });
    } catch (error) {
      const [fault] = rowFaultsOf(error);
      if (!fault || !rows[fault.at]) throw error;
      refuse(fault, rows, { refused, seen });
    }
  }
}

async function writeWithPlan(
  { rows: collection, progress }: Place,
  batch: Batch,
): Promise<BatchAnswer> {
  const keys = batch.rows.map(({ key }) => key);
  const there = await existingIn(collection, keys);
  const absent = new Set(keys.filter((_, at) => there[at] !== true).map(keyText));
  const fresh = new Set(await progress.plan(batch, [...absent]));
  const refused = new Map<number, string>();
  const seen = new Set<number>();
  for (;;) {
    const rows = batch.rows.filter(({ row }) => !refused.has(row));
    try {
      await put(collection, rows, {});
      const inserted = [...new Set(rows.map(({ key }) => keyText(key)))].filter((key) =>
        fresh.has(key),
      );
      const answer = answerOf(batch, refused, inserted.length);
      await progress.advance(batch, answer);
      return answer;
    } catch (error) {
      // It ends with the first row that is refused; what was written before it is written once more.
      const [fault] = rowFaultsOf(error);
      if (!fault || !rows[fault.at]) throw error;
      refuse(fault, rows, { refused, seen });
    }
  }
}

/** Another import may have inserted the same key a moment ago: the second time it is an update. */
function refuse(
  { at, isDuplicate, message }: RowFault,
  rows: readonly TargetRow[],
  known: { readonly refused: Map<number, string>; readonly seen: Set<number> },
): void {
  const guilty = rows[at];
  if (!guilty) return;
  if (isDuplicate && !known.seen.has(guilty.row)) known.seen.add(guilty.row);
  else known.refused.set(guilty.row, cleanReason(message));
}

function answerOf(
  { rows, failures }: Batch,
  refused: ReadonlyMap<number, string>,
  inserted: number,
): BatchAnswer {
  const more = [...refused].map(([row, reason]) => ({ row, reason }));
  return {
    inserted,
    updated: rows.length - more.length - inserted,
    failures: [...failures, ...more].toSorted(byRow),
  };
}

async function put(
  collection: CollectionLike,
  rows: readonly TargetRow[],
  options: Document,
): Promise<{ readonly upsertedCount: number }> {
  if (rows.length === 0) return { upsertedCount: 0 };
  const operations = rows.map(({ key, values }) => {
    const others = Object.entries(present(values)).filter(([name]) => !(name in key));
    return {
      updateOne: {
        filter: filterOf(key),
        update:
          others.length > 0 ? { $set: Object.fromEntries(others) } : { $setOnInsert: { ...key } },
        upsert: true,
      },
    };
  });
  // In their order: of two rows with one key the later wins.
  return collection.bulkWrite(operations as never[], { ...options, ordered: true });
}

/** Values only: no operator comes in by a cell. */
function filterOf(key: RowKey): Document {
  return Object.fromEntries(Object.entries(key).map(([name, value]) => [name, { $eq: value }]));
}

async function existingIn(
  collection: CollectionLike,
  keys: readonly RowKey[],
): Promise<readonly boolean[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const names = Object.keys(first);
  const projection = Object.fromEntries(names.map((name) => [name, 1]));
  const found = await collection.find({ $or: keys.map(filterOf) }, { projection }).toArray();
  const there = new Set(
    found.map((one) =>
      keyText(Object.fromEntries(names.map((name) => [name, one[name]])) as RowKey),
    ),
  );
  return keys.map((key) => there.has(keyText(key)));
}

const OPTIONS_CONFLICT = 85;
const KEY_SPECS_CONFLICT = 86;

function isOtherIndex(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return code === OPTIONS_CONFLICT || code === KEY_SPECS_CONFLICT;
}
