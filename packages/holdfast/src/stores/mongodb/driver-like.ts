/**
 * The driver `mongodb`, by shape: what this store uses of it, and no more. Whoever brings a `Db` brings
 * the driver with it; only a store that is opened by its URL loads the package itself.
 */
export type Document = Record<string, unknown>;

export interface CursorLike {
  toArray(): Promise<Document[]>;
  close(): Promise<void>;
  tryNext(): Promise<Document | null>;
  next(): Promise<Document | null>;
}

export interface BulkResultLike {
  readonly matchedCount: number;
  readonly insertedCount: number;
}

export interface CollectionLike {
  find(filter: Document, options?: Document): CursorLike;
  aggregate(pipeline: Document[], options?: Document): CursorLike;
  insertMany(documents: Document[], options?: Document): Promise<unknown>;
  updateOne(filter: Document, update: Document | Document[], options?: Document): Promise<unknown>;
  updateMany(
    filter: Document,
    update: Document | Document[],
    options?: Document,
  ): Promise<{ readonly modifiedCount: number }>;
  bulkWrite(operations: never[], options?: Document): Promise<BulkResultLike>;
  findOneAndUpdate(
    filter: Document,
    update: Document | Document[],
    options: Document,
  ): Promise<unknown>;
  deleteOne(filter: Document, options?: Document): Promise<{ readonly deletedCount: number }>;
  deleteMany(filter: Document, options?: Document): Promise<{ readonly deletedCount: number }>;
  createIndexes(specifications: never[], options?: Document): Promise<unknown>;
}

export interface DbLike {
  readonly databaseName: string;
  readonly client?: ClientLike;
  collection(name: string, options?: Document): CollectionLike;
  createCollection(name: string, options?: Document): Promise<unknown>;
  command(command: Document, options?: Document): Promise<Document>;
}

export interface ClientLike {
  db(name?: string, options?: Document): DbLike;
  connect(): Promise<unknown>;
  close(): Promise<void>;
  startSession?(): OwnSession;
  /** How long it waits for a server, among much else. */
  readonly options?: object;
}

/** A session that this store began itself. */
export interface OwnSession {
  startTransaction(options?: Document): void;
  abortTransaction(): Promise<unknown>;
  endSession(): Promise<unknown>;
}

/** A session in a transaction. Its client is how we reach our collections through it. */
export interface SessionLike {
  readonly client: ClientLike;
  readonly hasEnded: boolean;
  /** Another one for each transaction that it begins. */
  readonly transaction?: unknown;
  inTransaction(): boolean;
}

export function isDbLike(value: unknown): value is DbLike {
  return hasMethods(value, ["collection", "createCollection", "command"]);
}

export function isSessionLike(value: unknown): value is SessionLike {
  if (!hasMethods(value, ["inTransaction", "commitTransaction"])) return false;
  return hasMethods((value as { readonly client?: unknown }).client, ["db"]);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  const methods = value as Record<string, unknown>;
  return names.every((name) => typeof methods[name] === "function");
}
