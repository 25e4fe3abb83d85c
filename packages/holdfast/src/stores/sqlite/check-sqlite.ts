/** What an operator should know of a file of jobs. Looks and changes nothing. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidOptionError } from "../../core/errors.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { schemaFinding, schemaState } from "../../core/store-check.ts";
import type { Finding, StoreCheck } from "../../core/store-check.ts";
import { Connection } from "./connection.ts";
import { missingPart } from "./layout.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { MIGRATIONS, schemaVersion } from "./migrations.ts";
import { checkPath, NETWORK_FILE_SYSTEMS, openError } from "./open-database.ts";
import { describe } from "./store-info.ts";

/** Below this a file that grows may meet the end of the disk before a person does. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024;

export interface SqliteCheckOptions {
  readonly file: string;
  /** The number of the file system, as `statfs` has it; a test brings its own. */
  readonly fileSystem?: number | undefined;
}

export function checkSqlite(options: SqliteCheckOptions): StoreCheck {
  checkOptions("checkSqlite", options, ["file", "fileSystem"]);
  if (typeof options.file !== "string" || options.file === "") {
    throw new InvalidOptionError('checkSqlite needs the file: checkSqlite({ file: "jobs.db" })');
  }
  checkPath(options.file);
  const path = resolve(options.file);
  const wanted = MIGRATIONS.length;
  const place = placeFindings(dirname(path), options.fileSystem);
  if (!existsSync(path)) {
    const { version } = describe(null, { remembersMs: 0 });
    const schema = schemaState(0, wanted);
    return { store: "sqlite", version, schema, findings: [...place, schemaFinding(schema)] };
  }
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path);
  try {
    const connection = new Connection(database, { isBorrowed: false });
    const schema = schemaState(schemaVersion(connection), wanted);
    const { version } = describe(connection, { remembersMs: 0 });
    const findings = [
      ...place,
      schemaFinding(schema),
      ...(schema.state === "current" ? layoutFindings(connection) : []),
      ...modeFindings(connection, path),
      ...(version.includes("warning")
        ? [{ check: "version", level: "warning" as const, message: version }]
        : []),
    ];
    return { store: "sqlite", version, schema, findings };
  } catch (error) {
    throw openError(error, `"${options.file}"`);
  } finally {
    database.close();
  }
}

function placeFindings(folder: string, given: number | undefined): Finding[] {
  const facts = statfsSync(folder);
  const free = facts.bavail * facts.bsize;
  const isNetwork = NETWORK_FILE_SYSTEMS.includes(given ?? facts.type);
  return [
    isNetwork
      ? {
          ...{ check: "file system", level: "trouble" as const },
          message:
            "the file is on a network file system, where SQLite's locks do not hold: use a local disk, or a store on a server",
        }
      : { check: "file system", level: "ok" as const, message: "the file is on a local disk" },
    ...(free < LEAST_FREE_BYTES
      ? [
          {
            ...{ check: "disk", level: "warning" as const },
            message: `only ${Math.floor(free / 1024 / 1024)} MiB are free on its disk: make room`,
          },
        ]
      : []),
  ];
}

function layoutFindings(connection: Connection): Finding[] {
  const missing = missingPart(connection, MIGRATIONS);
  if (missing === null)
    return [{ check: "layout", level: "ok", message: "every table and index is there" }];
  return [
    {
      ...{ check: "layout", level: "trouble" },
      message: `there is no ${missing} as it should be: restore a backup, or move the jobs into a new file with holdfast move`,
    },
  ];
}

function modeFindings(connection: Connection, path: string): Finding[] {
  const mode = String(connection.value("PRAGMA journal_mode"));
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return [
    mode === "wal"
      ? { check: "journal", level: "ok", message: "the journal is a write-ahead log" }
      : {
          ...{ check: "journal", level: "note" },
          message: `the journal mode is ${mode}: the store sets WAL when it opens the file`,
        },
    ...(log > LEAST_FREE_BYTES
      ? [
          {
            ...{ check: "log", level: "warning" as const },
            message: `the write-ahead log has ${Math.floor(log / 1024 / 1024)} MiB: a program keeps a read transaction open on the file, so end it`,
          },
        ]
      : []),
  ];
}
