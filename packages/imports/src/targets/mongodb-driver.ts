/** The part of `mongodb` that the target uses, by shape. */
import { ImportTargetError } from "../errors.ts";

export type Document = Record<string, unknown>;

export interface CollectionLike {
  find(
    filter: Document,
    options?: Document,
  ): { toArray(): Promise<Document[]>; limit(count: number): { toArray(): Promise<Document[]> } };
  findOneAndUpdate(filter: Document, update: Document, options: Document): Promise<unknown>;
  updateOne(
    filter: Document,
    update: Document,
    options?: Document,
  ): Promise<{ readonly matchedCount: number }>;
  insertOne(document: never, options?: Document): Promise<unknown>;
  bulkWrite(
    operations: never[],
    options?: Document,
  ): Promise<{ readonly upsertedCount: number; readonly matchedCount: number }>;
  deleteMany(filter: Document, options?: Document): Promise<unknown>;
  createIndex(key: never, options?: Document): Promise<unknown>;
}

export interface SessionLike {
  /** What the server knows it by. */
  readonly id?: unknown;
  withTransaction<Out>(body: () => Promise<Out>, options?: Document): Promise<Out>;
  endSession(): Promise<unknown>;
}

export interface DbLike {
  readonly client: { startSession(): SessionLike };
  collection(name: string): CollectionLike;
  command(command: Document): Promise<Document>;
}

interface ClientLike {
  connect(): Promise<unknown>;
  close(): Promise<void>;
  db(): DbLike;
}

interface MongodbModule {
  readonly MongoClient: new (url: string, options: object) => ClientLike;
}

export interface OpenedDb {
  readonly db: DbLike;
  close(): Promise<void>;
}

/** Loaded when it is needed: who brings a `Db` brings the driver. */
export async function openDb(url: string): Promise<OpenedDb> {
  const { MongoClient } = await loadMongodb();
  const client = new MongoClient(url, {
    ...{ appName: "holdfast imports", serverSelectionTimeoutMS: 10_000 },
  });
  await client.connect();
  return { db: client.db(), close: () => client.close() };
}

async function loadMongodb(): Promise<MongodbModule> {
  const name = "mongodb";
  try {
    return (await import(name)) as MongodbModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ImportTargetError(
      "mongodbTarget({ url }) needs the package mongodb: npm install mongodb",
      { cause: error },
    );
  }
}

export function isDbLike(value: unknown): value is DbLike {
  const { collection, command } = Object(value) as Partial<DbLike>;
  return typeof collection === "function" && typeof command === "function";
}

const DUPLICATE_KEY = 11_000;
const INVALID_DOCUMENT = 121;

export interface RowFault {
  readonly at: number;
  readonly isDuplicate: boolean;
  readonly message: string;
}

/** Which rows of a bulk write the collection refused; none: something else failed. */
export function rowFaultsOf(error: unknown): readonly RowFault[] {
  const { writeErrors } = Object(error) as { readonly writeErrors?: unknown };
  const list = Array.isArray(writeErrors) ? (writeErrors as unknown[]) : [writeErrors];
  const faults = list.filter(Boolean).map((one) => {
    const { index, code, errmsg } = one as Readonly<Record<string, unknown>>;
    const isDuplicate = code === DUPLICATE_KEY;
    const isFault = isDuplicate || code === INVALID_DOCUMENT;
    return isFault ? { at: Number(index), isDuplicate, message: String(errmsg) } : null;
  });
  return faults.includes(null) ? [] : (faults as RowFault[]);
}

export function isDuplicateKey(error: unknown): boolean {
  return (Object(error) as { readonly code?: unknown }).code === DUPLICATE_KEY;
}
