export { checkMongodb } from "./check-mongodb.ts";
export { mongodbStore, type MongodbStoreOptions } from "./mongodb-store.ts";
export type { MongodbPlace } from "./open-database.ts";
export type {
  BulkResultLike,
  ClientLike,
  CollectionLike,
  CursorLike,
  DbLike,
  Document,
  SessionLike,
} from "./driver-like.ts";
