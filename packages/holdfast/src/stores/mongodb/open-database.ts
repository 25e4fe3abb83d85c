/**
 * From a URL (or the caller's own `Db`) to a database with our collections and indexes in it. Whatever
 * is wrong with the place becomes one error that says what to do.
 */
import { randomUUID } from "node:crypto";
import {
  InvalidOptionError,
  StoreOpenError,
  StoreUnavailableError,
  type HoldfastError,
} from "../../core/errors.ts";
import { addressOf, causeWords } from "../shared/place-words.ts";
import { Clearing } from "./clearing.ts";
import type { Clock } from "./clock.ts";
import { Database } from "./database.ts";
import {
  isDbLike,
  type ClientLike,
  type CollectionLike,
  type DbLike,
  type Document,
} from "./driver-like.ts";
import { Head } from "./head.ts";
import { KnownQueues } from "./known-queues.ts";
import { Locks } from "./locks.ts";
import { codeOf, storeError } from "./mongodb-error.ts";
import { COLLECTIONS, INDEXES, SCHEMA, type CollectionName, type StoreDocument } from "./schema.ts";
import type { ServerFacts } from "./store-info.ts";
import { Stretches } from "./stretches.ts";

/** 5.0: the oldest that has everything we use. */
const OLDEST_WIRE_VERSION = 13;
const FIND_SERVER_MS = 10_000;
/**
 * The driver makes two connections at a time: two that never come about keep everybody waiting, and a
 * server that fell silent is known by its heartbeat only. Its defaults (30 s and 10 s) are too patient.
 */
const CONNECT_MS = 3_000;
const HEARTBEAT_MS = 2_000;
const PATIENCE = {
  serverSelectionTimeoutMS: FIND_SERVER_MS,
  connectTimeoutMS: CONNECT_MS,
  heartbeatFrequencyMS: HEARTBEAT_MS,
};
const DEFAULT_DATABASE = "holdfast";
/** Hints of a few seconds. */
const WAKE_BYTES = 256 * 1024;
const NAMESPACE_EXISTS = 48;
/** The collection, or the index. */
const NOT_THERE = new Set([26, 27]);
/** What to do, by the code of the error. */
const ADVICE: Readonly<Record<number, string>> = {
  13: "this user may not set up collections: give it the role readWrite on the database",
  18: "MongoDB does not know this user or password: check the URL",
  85: "collections $… have other indexes of the same names: give Holdfast a prefix of its own",
  86: "collections $… have other indexes of the same names: give Holdfast a prefix of its own",
};

export type MongodbPlace =
  /** The caller's own database; its client stays open when the store is closed. */
  | { readonly db: DbLike }
  /** `mongodb://host:27017/database?replicaSet=rs`; needs the package `mongodb`. */
  | { readonly url: string };

export interface OpenOptions {
  readonly place: MongodbPlace;
  readonly prefix: string;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly remembersMs: number;
  readonly stretchDocuments?: number | undefined;
}

export interface OpenDatabase {
  readonly db: Database;
  readonly wake: CollectionLike;
  readonly facts: ServerFacts;
  /** Of our collections: to know a caller's transaction of the same database by. */
  readonly id: string;
  /** Ends the client if it is our own. */
  release(): Promise<void>;
}

export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { place, stretchDocuments, ...settings } = options;
  const client = "db" in place ? null : await connect(place.url);
  const db = "db" in place ? place.db : databaseOf(client, place.url);
  const release = async (): Promise<void> => client?.close();
  try {
    const facts = await factsOf(db);
    const memory = {
      known: new KnownQueues(),
      clearing: new Clearing(),
      locks: new Locks(),
      stretches: new Stretches(stretchDocuments),
      hasTransactions: facts.isReplicaSet && typeof db.client?.startSession === "function",
    };
    const head = new Head({ ...settings, db });
    const database = new Database({ ...settings, db, head, ...memory });
    const { id, isNewer } = await schemaOf(database);
    const wake = isNewer ? database.wake : await setUp(database);
    // Whoever comes later begins where the clock has been.
    await database.reserve(0);
    return { db: database, wake, facts, id, release };
  } catch (error) {
    await release().catch(() => {});
    throw openError(error, options.prefix);
  }
}

function openError(error: unknown, prefix: string): unknown {
  const advice = ADVICE[codeOf(error) ?? 0];
  if (advice === undefined) return storeError(error);
  return new StoreOpenError(advice.replace("$", prefix), { cause: error });
}

interface MongodbModule {
  readonly MongoClient: new (url: string, options: Document) => ClientLike;
}

export async function connect(url: string): Promise<ClientLike> {
  const { MongoClient } = await loadDriver();
  let client: ClientLike | null = null;
  try {
    client = new MongoClient(url, {
      appName: "holdfast",
      // What the URL says itself counts.
      ...Object.fromEntries(Object.entries(PATIENCE).filter(([name]) => !url.includes(name))),
    });
    await client.connect();
    return client;
  } catch (error) {
    await client?.close().catch(() => {});
    throw connectError(error, url);
  }
}

/** A server that is away may be back soon; all else is for a person to mend. */
function connectError(error: unknown, url: string): HoldfastError {
  const at = addressOf(url);
  const said = causeWords(error);
  const known = storeError(error);
  if (known instanceof StoreUnavailableError && codeOf(error) === null) {
    const message = `no MongoDB answers at ${at} (${said}): check host and port, or try again`;
    return new StoreUnavailableError(message, { cause: error, mayHaveHappened: false });
  }
  const message = `the URL of MongoDB at ${at} is refused: check user, password and options (${said})`;
  return new StoreOpenError(message, { cause: error });
}

/** Loaded when a store is opened, so that only those who use MongoDB need its driver. */
async function loadDriver(): Promise<MongodbModule> {
  const name = "mongodb";
  try {
    return (await import(name)) as MongodbModule;
  } catch (error) {
    throw new StoreOpenError(
      "the MongoDB store needs the package mongodb: run npm install mongodb, or give it a db",
      { cause: error },
    );
  }
}

/** The one that the URL names. The driver's own default is called `test`, which nobody would expect. */
export function databaseOf(client: ClientLike | null, url: string): DbLike {
  const name = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  if (client === null) throw new Error("a URL without a client");
  return client.db(name === undefined ? DEFAULT_DATABASE : decodeURIComponent(name));
}

export async function factsOf(db: DbLike): Promise<ServerFacts> {
  const hello = await db.command({ hello: 1 });
  const { version } = await db.command({ buildInfo: 1 });
  if (Number(hello["maxWireVersion"]) < OLDEST_WIRE_VERSION) {
    throw new StoreOpenError(`this is MongoDB ${String(version)}: Holdfast needs 5.0 or newer`);
  }
  const isRouter = hello["msg"] === "isdbgrid";
  const hosts = hello["hosts"];
  return {
    version: String(version),
    isReplicaSet: isRouter || typeof hello["setName"] === "string",
    nodes: Array.isArray(hosts) ? hosts.length : isRouter ? Infinity : 1,
    silenceMs: silenceOf(db),
  };
}

/** A heartbeat is late after both together. */
function silenceOf({ client }: DbLike): number | null {
  const { connectTimeoutMS, heartbeatFrequencyMS } = (client?.options ?? {}) as Document;
  const isSaid = typeof connectTimeoutMS === "number" && typeof heartbeatFrequencyMS === "number";
  return isSaid ? connectTimeoutMS + heartbeatFrequencyMS : null;
}

/** Throws if a newer Holdfast has written them that does not serve this one. */
async function schemaOf(database: Database): Promise<{ id: string; isNewer: boolean }> {
  const named = { _id: "store" };
  // One that begins here has nothing to be upgraded.
  const own = { $setOnInsert: { id: randomUUID(), ...SCHEMA } };
  const stored = await database.findOneAndUpdate("head", named, own, { upsert: true });
  const { id, version = 1, serves = 1 } = stored as unknown as StoreDocument;
  if (serves > SCHEMA.version) {
    const { prefix } = database.options;
    const versions = `schema ${version}, this one knows up to ${SCHEMA.version}`;
    throw new StoreOpenError(
      `a newer Holdfast wrote the collections ${prefix}… (${versions}): upgrade the holdfast package here, or use another prefix`,
    );
  }
  return { id, isNewer: version > SCHEMA.version };
}

/**
 * Indexes of collections that have many documents already are built without stopping anybody. Those of an
 * older version that have other fields by now are dropped first.
 */
async function setUp(database: Database): Promise<CollectionLike> {
  const { db, prefix } = database.options;
  const bare = COLLECTIONS.filter((name) => INDEXES[name] === undefined);
  await upgrade(database);
  await Promise.all([
    ...bare.map((name) => createCollection(db, prefix + name)),
    ...Object.entries(INDEXES).map(([name, indexes]) =>
      database.collection(name as CollectionName).createIndexes([...indexes] as never[]),
    ),
    createCollection(db, `${prefix}wake`, { capped: true, size: WAKE_BYTES }),
  ]);
  const { version, serves } = SCHEMA;
  await database.updateMany("head", { _id: "store" }, { $set: { version, serves } });
  return database.wake;
}

/** What version 1 had otherwise. */
const OUTDATED: Readonly<Partial<Record<CollectionName, readonly string[]>>> = {
  jobs: ["ready", "due", "leased", "halted", "type", "finished", "typeFirst", "typeLast"],
  fresh: ["ready"],
  ledger: ["type"],
};

async function upgrade(database: Database): Promise<void> {
  const [store] = await database.find<StoreDocument>("head", { _id: "store" });
  if ((store?.version ?? 1) >= SCHEMA.version) return;
  const { db, prefix } = database.options;
  for (const [name, indexes] of Object.entries(OUTDATED)) {
    for (const index of indexes) {
      const dropped = db.command({ dropIndexes: prefix + name, index });
      await dropped.catch((error: unknown) => {
        if (!NOT_THERE.has(codeOf(error) ?? 0)) throw error;
      });
    }
  }
  const hasLines = { hasLines: true, linesRev: { $exists: false } };
  await database.updateMany("queues", hasLines, { $set: { linesRev: 1 } });
  const waits = { status: "queued", attempts: { $gt: 0 }, again: { $exists: false } };
  await database.updateMany("jobs", waits, [{ $set: { again: "$queue" } }]);
}

async function createCollection(db: DbLike, name: string, options: Document = {}): Promise<void> {
  try {
    await db.createCollection(name, options);
  } catch (error) {
    if (codeOf(error) !== NAMESPACE_EXISTS) throw error;
  }
}

export function checkPlace(place: MongodbPlace): void {
  const isBoth = "db" in place && "url" in place;
  const isPlace = isBoth ? false : "db" in place ? isDbLike(place.db) : isUrl(place.url);
  if (isPlace) return;
  throw new InvalidOptionError(
    "mongodbStore takes either { url } with mongodb://…, or { db } with a Db of the driver",
  );
}

function isUrl(url: unknown): boolean {
  return typeof url === "string" && /^mongodb(\+srv)?:\/\//.test(url);
}
