/** Business data in MongoDB: a collection for each table, and transactions where it is a replica set. */
import { MongoClient, type ClientSession, type Db, type Document } from "mongodb";
import {
  conditionsOf,
  Data,
  DuplicateRowError,
  type FindOptions,
  type ImportPlace,
  type Rows,
  type Transaction,
  type Where,
} from "./data.ts";
import { readRow } from "./sql-rows.ts";
import { columnsOf, specOf, TABLE_NAMES, type TableName } from "./tables.ts";

const DUPLICATE_KEY = 11_000;
const SELECT_MS = 10_000;
const OPERATORS = { "=": "$eq", ">=": "$gte", "<": "$lt", null: "$eq" } as const;

export class MongodbData extends Data {
  readonly kind = "mongodb";
  readonly #client: MongoClient;
  readonly #db: Db;
  protected readonly rows: Rows;
  #hasTransactions = false;

  constructor(url: string) {
    super();
    this.#client = new MongoClient(url, { serverSelectionTimeoutMS: SELECT_MS });
    this.#db = this.#client.db();
    this.rows = mongodbRows(this.#db, undefined);
  }

  /** Known once `migrate` or `ping` has asked. */
  get hasTransactions(): boolean {
    return this.#hasTransactions;
  }

  async migrate(): Promise<void> {
    await this.ping();
    for (const table of TABLE_NAMES) {
      const { key, unique = [], indexes = [] } = specOf(table);
      const collection = this.#db.collection(table);
      for (const fields of [key, ...unique]) {
        await collection.createIndex(indexOf(fields), { unique: true });
      }
      for (const fields of indexes) await collection.createIndex(indexOf(fields));
    }
  }

  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#client.withSession(async (session) => {
      const tx = { ...mongodbRows(this.#db, session), handle: session };
      return this.#hasTransactions ? session.withTransaction(() => work(tx)) : work(tx);
    });
  }

  importPlace(): ImportPlace {
    return { kind: "mongodb", db: this.#db };
  }

  async ping(): Promise<void> {
    const hello = await this.#db.command({ hello: 1 });
    this.#hasTransactions = typeof hello["setName"] === "string" || hello["msg"] === "isdbgrid";
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

function mongodbRows(db: Db, session: ClientSession | undefined): Rows {
  const inSession = session === undefined ? {} : { session };
  return {
    async find<Name extends TableName>(
      table: Name,
      where?: Where<Name>,
      options: FindOptions<Name> = {},
    ) {
      const by = options.orderBy === undefined ? specOf(table).key : [options.orderBy];
      const direction = options.newestFirst === true ? -1 : 1;
      const found = await db
        .collection(table)
        .find(filterOf(where), { ...inSession, projection: { _id: 0 } })
        .sort(indexOf(by, direction))
        .limit(options.limit ?? 0)
        .toArray();
      return found.map((document) => readRow(table, document));
    },
    count: (table, where) => db.collection(table).countDocuments(filterOf(where), inSession),
    async add(table, rows) {
      if (rows.length === 0) return;
      try {
        await db.collection(table).insertMany(
          rows.map((row) => documentOf(table, row)),
          inSession,
        );
      } catch (error) {
        throw codeOf(error) === DUPLICATE_KEY ? new DuplicateRowError(table, error) : error;
      }
    },
    async put(table, rows) {
      if (rows.length === 0) return;
      const { key } = specOf(table);
      const writes = rows.map((row) => {
        const document = documentOf(table, row);
        const filter = Object.fromEntries(key.map((field) => [field, document[field] as unknown]));
        return { replaceOne: { filter, replacement: document, upsert: true } };
      });
      await db.collection(table).bulkWrite(writes, inSession);
    },
    async change(table, where, values) {
      const done = await db
        .collection(table)
        .updateMany(filterOf(where), { $set: values as Document }, inSession);
      return done.matchedCount;
    },
    async remove(table, where) {
      return (await db.collection(table).deleteMany(filterOf(where), inSession)).deletedCount;
    },
  };
}

function indexOf(fields: readonly string[], direction: 1 | -1 = 1): Record<string, 1 | -1> {
  return Object.fromEntries(fields.map((field) => [field, direction]));
}

function filterOf(where: object = {}): Document {
  const filter: Record<string, Document> = {};
  for (const { field, is, value } of conditionsOf(where as Record<string, unknown>)) {
    filter[field] = { ...filter[field], [OPERATORS[is]]: value };
  }
  return filter;
}

function documentOf(table: TableName, row: object): Document {
  const given = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(columnsOf(table).map((column) => [column, given[column] ?? null]));
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { readonly code?: unknown }).code;
}
