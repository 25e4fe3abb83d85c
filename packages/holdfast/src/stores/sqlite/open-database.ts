/**
 * From a path (or the caller's own connection) to a connection with our tables in it. Whatever is
 * wrong with the place becomes one `StoreOpenError` that says what to do.
 */
import { statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { HoldfastError, StoreOpenError } from "../../core/errors.ts";
import { Connection } from "./connection.ts";
import type { DatabaseLike } from "./database-like.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { isUpToDate, migrate } from "./migrations.ts";
import { BUSY, retryWhileBusy } from "./retry-while-busy.ts";
import { isBusy, troubleOf } from "./sqlite-error.ts";
import { Transaction, type TransactionSettings } from "./transaction.ts";

export const IN_MEMORY = ":memory:";

/** File systems on which a lock of one host is not seen by another: NFS, SMB, SMB2, CIFS. */
export const NETWORK_FILE_SYSTEMS: readonly number[] = [0x6969, 0x517b, 0xfe534d42, 0xff534d42];

export interface OpenOptions extends TransactionSettings {
  readonly place: { readonly file: string } | { readonly database: DatabaseLike };
  /** Undefined: full for a file, and for the caller's connection whatever it is. */
  readonly synchronous: "full" | "normal" | undefined;
  readonly busyDeadlineMs: number;
  /** The store is to be closed: a lock is not waited for any longer. */
  readonly isGivenUp?: () => boolean;
}

export async function openDatabase(options: OpenOptions): Promise<Connection> {
  const { place } = options;
  const connection =
    "file" in place
      ? new Connection(openFile(place.file), { isBorrowed: false })
      : new Connection(place.database);
  const name = "file" in place ? `"${place.file}"` : "the given database";
  try {
    await setUp(connection, options);
    return connection;
  } catch (error) {
    if (!connection.isBorrowed) connection.database.close();
    throw openError(error, name);
  }
}

function openFile(file: string): DatabaseLike {
  const { DatabaseSync } = loadSqlite();
  if (file !== IN_MEMORY) checkPlace(file);
  try {
    return new DatabaseSync(file);
  } catch (error) {
    throw openError(error, `"${file}"`);
  }
}

function checkPlace(file: string): void {
  checkPath(file);
  if (process.platform !== "linux") return;
  if (NETWORK_FILE_SYSTEMS.includes(statfsSync(dirname(resolve(file))).type)) {
    throw new StoreOpenError(
      `"${file}" is on a network file system, where SQLite's locks do not hold: use a local disk, or a store on a server`,
    );
  }
}

export function checkPath(file: string): void {
  const path = resolve(file);
  const folder = dirname(path);
  const inFolder = statSync(folder, { throwIfNoEntry: false });
  if (inFolder?.isDirectory() !== true) {
    throw new StoreOpenError(`the folder of "${file}" does not exist: create "${folder}" first`);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new StoreOpenError(`"${file}" is a folder: give the path of a file inside it`);
  }
}

async function setUp(connection: Connection, options: OpenOptions): Promise<void> {
  const { busyDeadlineMs, synchronous, isGivenUp } = options;
  const untilFree = <T>(step: () => T | typeof BUSY): Promise<T> =>
    retryWhileBusy(busyDeadlineMs, step, isGivenUp);
  const { database } = connection;
  if (!connection.isBorrowed) database.exec("PRAGMA busy_timeout = 0");
  // The first look into the file: one that is no database fails here.
  await untilFree(() => connection.value("PRAGMA schema_version"));
  if (!connection.isBorrowed) {
    await untilFree(() => {
      if (connection.value("PRAGMA journal_mode") !== "wal")
        database.exec("PRAGMA journal_mode = WAL");
      return true;
    });
    // 32 MB of cache: jobs of a thousand groups are read in no order, and with SQLite's own 2 MB
    // every one of them came from the file. The committer checkpoints, every 8 MB of log: a
    // background checkpointer let the log grow without bound, and a larger step stops the event
    // loop for longer.
    database.exec(`
      PRAGMA synchronous = ${synchronous === "normal" ? "NORMAL" : "FULL"};
      PRAGMA cache_size = -32000;
      PRAGMA wal_autocheckpoint = 2000;
      PRAGMA journal_size_limit = 16777216`);
  } else if (synchronous !== undefined) {
    database.exec(`PRAGMA synchronous = ${synchronous === "normal" ? "NORMAL" : "FULL"}`);
  }
  await untilFree(() => isUpToDate(connection) || migrateNow(connection));
  stampClock(connection, options);
}

function migrateNow(connection: Connection): true | typeof BUSY {
  if (!connection.tryBegin()) return BUSY;
  try {
    migrate(connection);
    connection.commit();
    return true;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

/**
 * Notes in the database how late it is, so that whoever opens it after the host's clock was set back
 * knows. Also finds out whether the file can be written. Who has the lock now notes it as well.
 */
function stampClock(connection: Connection, settings: TransactionSettings): void {
  if (!connection.tryBegin()) return;
  try {
    new Transaction(connection, settings).flush();
    connection.commit();
  } catch (error) {
    connection.rollback();
    if (!isBusy(error)) throw error;
  }
}

export function openError(error: unknown, name: string): unknown {
  if (error instanceof HoldfastError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new StoreOpenError(`${name} ${adviceFor(error)} (${detail})`, { cause: error });
}

function adviceFor(error: unknown): string {
  switch (troubleOf(error)) {
    case "notadb":
      return "is not a SQLite database: give the path of another file, or move that one away";
    case "readonly":
      return "is read-only: give this process write permission for the file and its folder";
    case "cantopen":
      return "cannot be opened: check the permissions of the file and its folder";
    case "full":
      return "has no room: free disk space or raise its max_page_count, then open again";
    case "corrupt":
      return "is damaged: run PRAGMA integrity_check on it, and restore a backup if that fails";
    case "io":
      return "cannot be read or written: check the disk and the permissions of its folder";
    default:
      return "cannot be used as a store";
  }
}
