/** For tests of the MongoDB store by itself: a database, a store on it, and a clock that stands still. */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import type { DbLike, Document } from "../../packages/holdfast/src/stores/mongodb/driver-like.ts";
import { mongodbStore } from "../../packages/holdfast/src/stores/mongodb/index.ts";
import { mongodbDatabase, mongodbPlace, type MongodbDatabase } from "./mongodb-place.ts";

export interface MongodbWorld {
  readonly database: MongodbDatabase;
  readonly store: Store;
  now: number;
  /** Another process, which sees the database through this. */
  process(db: DbLike, options?: { readonly stretchDocuments?: number }): Promise<Store>;
  documents(collection: string): Promise<Document[]>;
}

/** For the tests of the file, or block, that calls it; each has an empty database. */
export function mongodbWorld(
  server: "mongodb" | "mongodb-standalone" = "mongodb-standalone",
): MongodbWorld {
  let database: MongodbDatabase;
  let store: Store;
  const world: MongodbWorld = {
    get database() {
      return database;
    },
    get store() {
      return store;
    },
    now: 0,
    async process(db, options = {}) {
      const opened = mongodbStore({ db, now: () => world.now, ...options });
      await opened.open();
      return opened;
    },
    documents: (collection) => database.db.collection(`holdfast_${collection}`).find({}).toArray(),
  };
  beforeAll(async () => void (database = await mongodbDatabase(server)));
  beforeEach(async () => {
    world.now = Date.UTC(2031, 0, 1);
    store = await world.process(database.db);
  });
  afterEach(async () => {
    await store.close();
    await (await mongodbPlace(database)).dispose();
  });
  afterAll(() => database.drop());
  return world;
}

const COMMANDS = ["insert", "update", "delete"] as const;
const METHODS = {
  insertMany: "insert",
  updateMany: "update",
  deleteMany: "delete",
  bulkWrite: "bulk",
} as const;

/** One write, as it leaves the store. */
export interface Write {
  readonly verb: (typeof COMMANDS)[number] | "bulk";
  /** Without the prefix. */
  readonly collection: string;
}

/** The same database, but `onWrite` decides what becomes of each write. */
export function intercepted(
  { db }: MongodbDatabase,
  onWrite: (write: Write, run: () => Promise<unknown>) => Promise<unknown>,
): DbLike {
  const short = (name: unknown): string => String(name).replace(/^holdfast_/, "");
  return {
    databaseName: db.databaseName,
    client: db.client,
    createCollection: (name, options) => db.createCollection(name, options),
    command(command, options) {
      const run = (): Promise<Document> => db.command(command, options);
      const verb = COMMANDS.find((one) => one in command);
      if (verb === undefined) return run();
      return onWrite({ verb, collection: short(command[verb]) }, run) as Promise<Document>;
    },
    collection(name, options) {
      return new Proxy(db.collection(name, options), {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== "function") return value;
          const call = value.bind(target) as (...all: unknown[]) => Promise<unknown>;
          if (!(key in METHODS)) return call;
          const verb = METHODS[key as keyof typeof METHODS];
          return (...all: unknown[]) =>
            onWrite({ verb, collection: short(name) }, () => call(...all));
        },
      }) as never;
    },
  };
}

/** What a process says that was killed. */
export class Died extends Error {}

/** The process dies at the n-th of these writes, and at every later one. */
export function dyingAt(
  nth: number,
  database: MongodbDatabase,
  isMeant: (write: Write) => boolean,
): DbLike {
  let writes = 0;
  return intercepted(database, async (write, run) => {
    if (isMeant(write) && ++writes >= nth) throw new Died("kill -9");
    return run();
  });
}
