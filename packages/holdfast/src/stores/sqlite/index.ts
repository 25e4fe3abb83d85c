export { checkSqlite } from "./check-sqlite.ts";
export { sqliteStore, type SqliteStoreOptions, type SqlitePlace } from "./sqlite-store.ts";
export type { DatabaseLike, StatementLike } from "./database-like.ts";
export type { QueueView, QueueViews } from "../../core/queue-views.ts";
