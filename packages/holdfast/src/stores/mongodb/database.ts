/**
 * The way to the database. Every call has a deadline on the server, and every write is acknowledged by
 * a majority of the nodes, unless it says that losing it would do no harm.
 */
import type { Clearing } from "./clearing.ts";
import type {
  CollectionLike,
  CursorLike,
  DbLike,
  Document,
  OwnSession,
  SessionLike,
} from "./driver-like.ts";
import type { Head, Reserved } from "./head.ts";
import { duplicatesIn, duplicatesOf, takenOf } from "./mongodb-error.ts";
import type { KnownQueues } from "./known-queues.ts";
import type { Locks } from "./locks.ts";
import type { CollectionName } from "./schema.ts";
import type { Stretches } from "./stretches.ts";

/** Numbers come back as numbers, whatever the caller's own client is set to. */
const PLAIN = { promoteLongs: true, promoteValues: true, useBigInt64: false, bsonRegExp: false };
/** Whatever the caller's own client is set to: what was written lightly by ourselves must be seen at once. */
const NEWEST = { readPreference: "primary", readConcern: { level: "local" } };
const MAJORITY = { ...NEWEST, writeConcern: { w: "majority", journal: true } };
/** What is asked for comes with the first reply. Left to itself the server sends 101, then the rest. */
const ONE_BATCH = { batchSize: 2_000 };
const PART = 100;
const DELETED_PART = 250;
/** Documents of many jobs. */
const INSERTED_PART = 8;
const MOST_INSERTS = 2;
const BY_ID = { hint: "_id_" };
/** For what only saves work if it is kept. */
export const LIGHTLY = { writeConcern: { w: 1 } };

export interface DatabaseOptions {
  readonly db: DbLike;
  readonly prefix: string;
  readonly head: Head;
  readonly deadlineMs: number;
  readonly remembersMs: number;
  readonly known: KnownQueues;
  readonly clearing: Clearing;
  readonly locks: Locks;
  readonly stretches: Stretches;
  /** Some caller may have a transaction open: the server is no standalone one. */
  readonly hasTransactions: boolean;
  /** A caller's own transaction, in which everything happens; or one of ours that is taken back. */
  readonly session?: SessionLike | OwnSession;
}

export interface FindOptions {
  readonly sort?: Document;
  readonly limit?: number;
  readonly skip?: number;
  readonly projection?: Document;
  readonly hint?: string;
  /** For a sort that no index does: the documents may be large. */
  readonly allowDiskUse?: true;
}

/** By index: which of its ids is taken, the least of them. Null: the server does not say. */
export type Refusals = ReadonlyMap<number, string | null>;

/** What becomes of these documents, if the filter fits them. */
export interface SameUpdate {
  readonly ids: readonly string[];
  readonly filter: Document;
  readonly update: Document | Document[];
}

export interface Trial {
  readonly db: Database;
  /** Nobody waits for that: a plain write that comes before it waits for some milliseconds. */
  takeBack(): void;
}

export class Database {
  readonly options: DatabaseOptions;
  readonly #collections = new Map<CollectionName, CollectionLike>();
  readonly #common: Document;

  constructor(options: DatabaseOptions) {
    this.options = options;
    const { session, deadlineMs } = options;
    this.#common = { maxTimeMS: deadlineMs, ...(session === undefined ? {} : { session }) };
  }

  get isInTransaction(): boolean {
    return this.options.session !== undefined;
  }

  get hasTransactions(): boolean {
    return this.options.hasTransactions;
  }

  /** The same in a transaction of our own, to try out what would happen. */
  trial(): Trial {
    const session = this.options.db.client?.startSession?.();
    if (session === undefined) throw new Error("this Db has no client that starts sessions");
    session.startTransaction({ readConcern: { level: "local" }, writeConcern: { w: 1 } });
    return {
      db: new Database({ ...this.options, session }),
      takeBack: () => {
        // The server has done it where a write was refused. If this fails, it does it in its own time.
        const aborted = session.abortTransaction().catch(() => {});
        aborted.then(() => session.endSession()).catch(() => {});
      },
    };
  }

  get remembersMs(): number {
    return this.options.remembersMs;
  }

  collection(name: CollectionName): CollectionLike {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const { db, prefix } = this.options;
    const collection = db.collection(prefix + name, { ...PLAIN, ...MAJORITY });
    this.#collections.set(name, collection);
    return collection;
  }

  /** Where words to other processes are said. */
  get wake(): CollectionLike {
    return this.options.db.collection(`${this.options.prefix}wake`, NEWEST);
  }

  /** The store's clock. */
  now(): Promise<number> {
    return this.options.head.now();
  }

  /** So many numbers that nobody else gets, each greater than all before, and the time. */
  reserve(count: number): Promise<Reserved> {
    return this.options.head.reserve(count);
  }

  async find<T>(name: CollectionName, filter: Document, options: FindOptions = {}): Promise<T[]> {
    const cursor = this.collection(name).find(filter, {
      ...this.#common,
      ...ONE_BATCH,
      ...hintFor(filter),
      ...options,
    });
    return all<T>(cursor);
  }

  async aggregate<T>(
    name: CollectionName,
    pipeline: readonly Document[],
    hint?: string,
  ): Promise<T[]> {
    const by = hint === undefined ? hintFor(matchOf(pipeline)) : { hint };
    const options = { ...this.#common, ...ONE_BATCH, ...by };
    return all<T>(this.collection(name).aggregate([...pipeline], options));
  }

  /** A stage that goes on with what this pipeline finds. */
  unionWith(name: CollectionName, pipeline: readonly Document[]): Document {
    return { $unionWith: { coll: this.options.prefix + name, pipeline } };
  }

  /** By an index, and no further than `limit`. Inside a transaction there is only the slower way. */
  async count(name: CollectionName, filter: Document, limit?: number): Promise<number> {
    const most = limit === undefined ? {} : { limit };
    if (!this.isInTransaction) {
      const { db, prefix, deadlineMs } = this.options;
      const command = { count: prefix + name, query: filter, ...most, maxTimeMS: deadlineMs };
      return Number((await db.command(command))["n"]);
    }
    const stages = [{ $match: filter }, ...(limit === undefined ? [] : [{ $limit: limit }])];
    const pipeline = [...stages, { $count: "n" }];
    const [counted] = await this.aggregate<{ readonly n: number }>(name, pipeline);
    return counted?.n ?? 0;
  }

  /** How many jobs these documents stand for, each for as many as `field` says; of at most so many. */
  async sum(
    name: CollectionName,
    filter: Document,
    { field, limit }: { readonly field: "n" | "left"; readonly limit?: number | undefined },
  ): Promise<number> {
    const most = limit === undefined ? [] : [{ $limit: limit }];
    const $group = { _id: null, jobs: { $sum: { $ifNull: [`$${field}`, 1] } } };
    const pipeline = [{ $match: filter }, ...most, { $group }];
    const [summed] = await this.aggregate<{ readonly jobs: number }>(name, pipeline);
    return summed?.jobs ?? 0;
  }

  /** Answers the indexes of those that were there already. In a transaction that is an error. */
  async insert(
    name: CollectionName,
    documents: readonly Document[],
    limits: Document = {},
  ): Promise<Set<number>> {
    if (documents.length === 0) return new Set();
    const options = { ...this.#common, ordered: this.isInTransaction, ...limits };
    try {
      await this.collection(name).insertMany([...documents], options);
      return new Set();
    } catch (error) {
      const duplicates = this.isInTransaction ? null : duplicatesIn(error);
      if (duplicates === null) throw error;
      return new Set(duplicates.map(({ index }) => index));
    }
  }

  /**
   * The same, outside of a transaction, for what its caller may send again. Else the driver would do that,
   * and the server keep a note of each document for it: a sixth of what an insert costs it. Answers what is
   * taken, by the indexes of those that were refused.
   */
  async insertRepeatable(
    name: CollectionName,
    documents: readonly Document[],
    limits: Document = {},
  ): Promise<Refusals> {
    if (documents.length === 0) return new Map();
    const command = { insert: this.options.prefix + name, documents, ...limits };
    return takenOf(await this.#write(command));
  }

  /** Whichever of the two is right here. */
  async add(
    name: CollectionName,
    documents: readonly Document[],
    limits: Document = {},
  ): Promise<Set<number>> {
    return this.isInTransaction
      ? this.insert(name, documents, limits)
      : new Set((await this.insertRepeatable(name, documents, limits)).keys());
  }

  /** The same, in parts beside each other: the server gives each call one core. */
  async insertInParts(name: CollectionName, documents: readonly Document[]): Promise<Refusals> {
    const parts = Math.max(1, Math.min(MOST_INSERTS, Math.floor(documents.length / INSERTED_PART)));
    const size = Math.ceil(documents.length / parts);
    const inserted = Array.from({ length: parts }, async (_, part) => {
      const some = documents.slice(part * size, (part + 1) * size);
      const refused = await this.insertRepeatable(name, some);
      return [...refused].map(([index, taken]) => [part * size + index, taken] as const);
    });
    return new Map((await Promise.all(inserted)).flat());
  }

  /** A word to whoever listens. Nobody sends it again: losing it costs latency only. */
  async say(word: Document): Promise<void> {
    await this.#command({ insert: `${this.options.prefix}wake`, documents: [word], ...LIGHTLY });
  }

  /** Answers how many of these operations found their document, or made it. */
  async bulk(
    name: CollectionName,
    operations: readonly Document[],
    options: Document = {},
  ): Promise<number> {
    const all = { ...this.#common, ordered: false, ...options };
    const done = await this.collection(name).bulkWrite(operations as never[], all);
    return done.matchedCount + done.insertedCount;
  }

  /** Resolves when a majority has all that was written before, by whomever. */
  async confirm(limits: Document = {}): Promise<void> {
    const lastAnswer = {
      updateOne: { filter: { _id: "head" }, update: { $inc: { confirmed: 1 } } },
    };
    await this.bulk("head", [lastAnswer], limits);
  }

  /** Answers how many were changed. */
  async updateMany(
    name: CollectionName,
    filter: Document,
    update: Document | Document[],
  ): Promise<number> {
    const options = { ...this.#common, ...hintFor(filter) };
    const { modifiedCount } = await this.collection(name).updateMany(filter, update, options);
    return modifiedCount;
  }

  /**
   * Answers how many documents were found. In parts beside each other: the server gives each call one
   * core, and a write of many documents is nearly all work. A caller's transaction has but one core.
   */
  async updateInParts(
    name: CollectionName,
    updates: readonly SameUpdate[],
    limits: Document = {},
  ): Promise<number> {
    const total = updates.reduce((sum, { ids }) => sum + ids.length, 0);
    if (total === 0) return 0;
    if (this.isInTransaction) {
      const operations = updates.map(({ ids, filter, update }) => ({
        updateMany: { filter: { _id: { $in: ids }, ...filter }, update, ...BY_ID },
      }));
      return this.bulk(name, operations);
    }
    const parts = Math.max(1, Math.round(total / PART));
    const found = split(updates, Math.ceil(total / parts)).map(async (part) => {
      const reply = await this.#write({
        update: this.options.prefix + name,
        updates: part,
        ...limits,
      });
      duplicatesOf(reply);
      return Number(reply["n"]);
    });
    return (await Promise.all(found)).reduce((sum, count) => sum + count, 0);
  }

  /** Lightly, and in parts beside each other. */
  async deleteInParts(name: CollectionName, ids: readonly (string | number)[]): Promise<void> {
    const parts = Array.from({ length: Math.ceil(ids.length / DELETED_PART) }, (_, part) =>
      ids.slice(part * DELETED_PART, (part + 1) * DELETED_PART),
    );
    const deleted = parts.map((some) => {
      const deletes = [{ q: { _id: { $in: some } }, limit: 0, ...BY_ID }];
      const command = { delete: this.options.prefix + name, deletes, ordered: false };
      return this.#command({ ...command, ...LIGHTLY });
    });
    await Promise.all(deleted);
  }

  async findOneAndUpdate(
    name: CollectionName,
    filter: Document,
    update: Document | Document[],
    options: Document = {},
  ): Promise<Document | null> {
    const all = { ...this.#common, returnDocument: "after", ...options };
    return (await this.collection(name).findOneAndUpdate(filter, update, all)) as Document | null;
  }

  async deleteOne(name: CollectionName, filter: Document): Promise<boolean> {
    return (await this.collection(name).deleteOne(filter, this.#common)).deletedCount === 1;
  }

  async deleteMany(name: CollectionName, filter: Document): Promise<number> {
    const options = { ...this.#common, ...hintFor(filter) };
    return (await this.collection(name).deleteMany(filter, options)).deletedCount;
  }

  #write(command: Document): Promise<Document> {
    return this.#command({ ...command, ordered: false, writeConcern: { w: "majority", j: true } });
  }

  /** As it is: the driver adds nothing, and does not try again. */
  #command(command: Document): Promise<Document> {
    const { db, deadlineMs } = this.options;
    return db.command({ ...command, maxTimeMS: command["maxTimeMS"] ?? deadlineMs }, PLAIN);
  }
}

/**
 * Whoever names documents means the index of names. Left to itself, the server tries the other indexes
 * of the filter as well; if the first hundred fit on either way it may choose one of those, and walks it
 * to its end: all ready jobs, for a claim.
 */
function hintFor({ _id }: Document): Document {
  return typeof _id === "object" && _id !== null && "$in" in _id ? BY_ID : {};
}

function matchOf([first]: readonly Document[]): Document {
  return (first?.["$match"] as Document | undefined) ?? {};
}

/** The statements of update commands, of at most so many documents in each part. */
function split(updates: readonly SameUpdate[], size: number): Document[][] {
  const parts: Document[][] = [];
  let room = 0;
  for (const { ids, filter, update } of updates) {
    for (let start = 0; start < ids.length;) {
      if (room === 0) {
        parts.push([]);
        room = size;
      }
      const some = ids.slice(start, start + room);
      const q = { _id: { $in: some }, ...filter };
      parts.at(-1)?.push({ q, u: update, multi: true, ...BY_ID });
      room -= some.length;
      start += some.length;
    }
  }
  return parts;
}

/** What is null or undefined is absent. */
export function present(document: object): Document {
  const entries = Object.entries(document).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

async function all<T>(cursor: CursorLike): Promise<T[]> {
  return (await cursor.toArray()) as T[];
}
