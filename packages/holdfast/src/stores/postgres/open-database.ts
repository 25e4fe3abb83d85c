/**
 * From a URL (or the caller's own pool) to a database with our schema in it. Whatever is wrong with
 * the place becomes one error that says what to do.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  HoldfastError,
  InvalidOptionError,
  StoreOpenError,
  StoreUnavailableError,
} from "../../core/errors.ts";
import { addressOf, causeWords, databaseNameOf } from "../shared/place-words.ts";
import type { Clock } from "./clock.ts";
import { Database, type Session } from "./database.ts";
import { migrate } from "./migrations.ts";
import { isPoolLike, type ClientLike, type PoolLike } from "./pool-like.ts";
import { codeOf, isLockTimeout, isServersWord } from "./postgres-error.ts";
import { number, text } from "./row-values.ts";
import type { SchemaName } from "./schema-name.ts";
import { showViewsIn } from "./views.ts";

/** 13: the oldest that has everything we use. */
const OLDEST_VERSION = 130_000;
/** A connection that does not come about in this time is tried again: the first try may be lost. */
const CONNECT_MS = 2_000;
const IDLE_MS = 60_000;
/** Migrations may take their time. */
const MIGRATE_DEADLINE_MS = 300_000;
const TRY_AGAIN_MS = 2_000;

export type PostgresPlace =
  /** The caller's own pool; it stays open when the store is closed. */
  | { readonly pool: PoolLike }
  /** `postgres://user:password@host:5432/database`; needs the package `pg`. */
  | { readonly url: string };

export interface OpenOptions {
  readonly place: PostgresPlace;
  readonly schema: SchemaName;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly remembersMs: number;
  readonly prepares: boolean;
  /** A schema of the application that shows our views, too; null: none. */
  readonly viewsIn: string | null;
}

/** What the server said of itself. */
export interface ServerFacts {
  readonly version: string;
  /** Of this schema: to know a caller's transaction of the same database by. */
  readonly id: string;
  readonly survivesPowerLoss: boolean;
  readonly survivesFailover: boolean;
  readonly warnings: readonly string[];
}

export interface OpenDatabase {
  readonly db: Database;
  readonly pool: PoolLike;
  readonly facts: ServerFacts;
  /** Lets go of the pool, and ends it if it is our own. */
  release(): Promise<void>;
}

const FACTS = `
  SELECT current_setting('server_version_num'), current_setting('server_version'),
    current_setting('server_encoding'), current_setting('fsync'),
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
    current_setting('default_transaction_isolation')`;
const MARKS = `
  SELECT (SELECT value FROM holdfast.meta WHERE key = 'id'), clock FROM holdfast.head`;

export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { place, ...settings } = options;
  const pool = "pool" in place ? place.pool : await openPool(place.url);
  // A connection that breaks must not end the process: not while it is idle, and not in the very moment
  // it comes about, when the pool has let go of it and we have not got it yet.
  const db = new Database({ ...settings, pool });
  const ignore = (): void => {};
  const hear = (client: ClientLike): void => void client.on?.("error", ignore);
  const lost = (): void => db.lostIdle();
  pool.on?.("error", lost);
  pool.on?.("connect", hear);
  const release = async (): Promise<void> => {
    if ("pool" in place) {
      pool.removeListener?.("error", lost);
      pool.removeListener?.("connect", hear);
    }
    // Our own keeps its listeners: a connection may still break while it says farewell.
    else await pool.end();
  };
  try {
    const facts = await setUpPatiently(db, options);
    return { db, pool, facts, release };
  } catch (error) {
    await release().catch(() => {});
    throw openError(error, options);
  }
}

export interface PgModule {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PoolLike;
}

async function openPool(url: string): Promise<PoolLike> {
  const { Pool } = await loadPg();
  return new Pool({
    connectionString: url,
    application_name: "holdfast",
    keepAlive: true,
    // A connection that never comes about must not keep its place in the pool.
    connectionTimeoutMillis: CONNECT_MS,
    // A new connection plans its statements anew: keep those that know them.
    idleTimeoutMillis: IDLE_MS,
  });
}

/** Loaded when a store is opened, so that only those who use PostgreSQL need its driver. */
export async function loadPg(): Promise<PgModule> {
  const name = "pg";
  try {
    const module = (await import(name)) as PgModule & { readonly default?: PgModule };
    return module.default ?? module;
  } catch (error) {
    throw new StoreOpenError(
      "the PostgreSQL store needs the package pg: run npm install pg, or give it a pool",
      { cause: error },
    );
  }
}

/** Again where others had a lock that a migration needs, until its time is up. */
async function setUpPatiently(db: Database, options: OpenOptions): Promise<ServerFacts> {
  const giveUpAt = performance.now() + MIGRATE_DEADLINE_MS;
  for (;;) {
    try {
      return await db.session(
        (session) => setUp(session, options),
        Math.max(0, giveUpAt - performance.now()),
      );
    } catch (error) {
      const isBlocked = error instanceof StoreUnavailableError && isLockTimeout(error.cause);
      if (!isBlocked || performance.now() >= giveUpAt) throw error;
      await sleep(TRY_AGAIN_MS * (0.5 + Math.random()));
    }
  }
}

async function setUp(
  session: Session,
  { schema, clock, viewsIn }: OpenOptions,
): Promise<ServerFacts> {
  const [row] = await session.script(FACTS);
  if (row === undefined) throw new Error("a statement without a row");
  const version = text(row, 1);
  if (number(row, 0) < OLDEST_VERSION) {
    throw new StoreOpenError(`this is PostgreSQL ${version}: Holdfast needs 13 or newer`);
  }
  if (text(row, 2) !== "UTF8") {
    throw new StoreOpenError(
      `the encoding of this database is ${text(row, 2)}: create one with ENCODING 'UTF8'`,
    );
  }
  if (text(row, 6) !== "read committed") {
    throw new StoreOpenError(
      `default_transaction_isolation is "${text(row, 6)}" here: set it to "read committed" for the user or pool that Holdfast uses`,
    );
  }
  await migrate(session, schema);
  const [marks] = await session.script(MARKS);
  if (marks === undefined) throw new Error("holdfast.head has lost its row");
  clock.saw(number(marks, 1));
  const isShown = viewsIn === null || viewsIn === schema.name;
  const isDurable = text(row, 3) === "on" && text(row, 4) !== "off";
  return {
    version,
    id: text(marks, 0),
    survivesPowerLoss: isDurable,
    survivesFailover: isDurable && text(row, 5) !== "" && text(row, 4) !== "local",
    warnings: isShown ? [] : await showViewsIn(session, schema, viewsIn),
  };
}

export function checkPlace(place: PostgresPlace): void {
  const isBoth = "pool" in place && "url" in place;
  const isPlace = isBoth ? false : "pool" in place ? isPoolLike(place.pool) : isUrl(place.url);
  if (isPlace) return;
  throw new InvalidOptionError(
    "postgresStore takes either { url } with postgres://…, or { pool } with a Pool of pg",
  );
}

function isUrl(url: unknown): boolean {
  return typeof url === "string" && /^postgres(ql)?:/.test(url);
}

function openError(error: unknown, { place, schema }: OpenOptions): unknown {
  if (error instanceof StoreUnavailableError) return awayOrWrong(error, place);
  if (error instanceof HoldfastError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  const advice = adviceFor(error, schema);
  return advice === null ? error : new StoreOpenError(`${advice} (${detail})`, { cause: error });
}

/** For those who only look: the same words for a server that is away, or lets nobody in. */
export function openFailure(error: unknown, url: string): unknown {
  if (error instanceof HoldfastError) return error;
  const away = new StoreUnavailableError("nothing was done", {
    cause: error,
    mayHaveHappened: false,
  });
  const code = codeOf(error) ?? "";
  const isKnown = code === "" || /^(28|3D|ECONN|ENOTFOUND|ETIMEDOUT|EHOST)/.test(code);
  return isKnown ? awayOrWrong(away, { url }) : error;
}

/** A server that does not answer may be back soon; a user or a database that is not there is for a person to mend. */
function awayOrWrong(error: StoreUnavailableError, place: PostgresPlace): HoldfastError {
  const isOurs = "url" in place;
  const at = isOurs ? `PostgreSQL at ${addressOf(place.url)}` : "PostgreSQL";
  const database = isOurs ? `"${databaseNameOf(place.url)}"` : "of this pool";
  const said = causeWords(error.cause);
  const code = codeOf(error.cause) ?? "";
  if (code.startsWith("3D")) {
    const message = `${at} has no database ${database}: create it (CREATE DATABASE), or correct its name (${said})`;
    return new StoreOpenError(message, { cause: error.cause });
  }
  if (code.startsWith("28")) {
    const message = `${at} does not let this user in: check user, password and pg_hba.conf (${said})`;
    return new StoreOpenError(message, { cause: error.cause });
  }
  if (!isOurs || error.cause === undefined || isServersWord(error.cause)) return error;
  return new StoreUnavailableError(
    `${at} cannot be reached (${said}): is it running there? ${error.message}`,
    error,
  );
}

function adviceFor(error: unknown, { name }: SchemaName): string | null {
  switch (codeOf(error)) {
    case "42501":
      return `this user may not set up or upgrade the schema "${name}": grant it CREATE on the database, or let a role that may run the SQL of postgresSchemaSql() for a new schema, and holdfast migrate up for one that is there`;
    case "42P07":
    case "42710":
      return `the schema "${name}" holds tables that are not Holdfast's: give Holdfast a schema of its own`;
    default:
      return null;
  }
}
