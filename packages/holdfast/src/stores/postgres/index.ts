export { postgresStore, type PostgresStoreOptions } from "./postgres-store.ts";
export type { PostgresPlace } from "./open-database.ts";
export type { ClientLike, PoolLike, PooledClientLike, QueryLike, ResultLike } from "./pool-like.ts";
export { checkPostgres } from "./check-postgres.ts";
export { postgresSchemaSql } from "./migrations.ts";
export type { PostgresExecutor } from "./executor-client.ts";
export type { QueueView, QueueViews } from "../../core/queue-views.ts";
