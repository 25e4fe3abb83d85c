/** What an operator should know of a PostgreSQL server. Looks and changes nothing. */
import { checkOptions } from "../../core/option-checks.ts";
import { schemaFinding, schemaState } from "../../core/store-check.ts";
import type { Finding, StoreCheck } from "../../core/store-check.ts";
import { FUNCTIONS_REVISION, MIGRATIONS } from "./migrations.ts";
import { loadPg, openFailure } from "./open-database.ts";
import { SchemaName } from "./schema-name.ts";

export interface PostgresCheckOptions {
  readonly url: string;
  /** Default `holdfast`. */
  readonly schema?: string | undefined;
  /** A transaction that is open for longer is a finding. Default 5 minutes. */
  readonly longTransactionMs?: number | undefined;
}

type Ask = (sql: string, values?: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>;

/** What a pool of `pg` can do besides lending connections. */
interface Asking {
  query(query: {
    readonly text: string;
    readonly values: unknown[];
    readonly rowMode: "array";
  }): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
}

const FIVE_MINUTES_MS = 300_000;
const DEAD_SHARE = 0.5;
const MANY_DEAD = 100_000;

export async function checkPostgres(options: PostgresCheckOptions): Promise<StoreCheck> {
  checkOptions("checkPostgres", options, ["url", "schema", "longTransactionMs"]);
  const { name } = new SchemaName(options.schema ?? "holdfast");
  const { Pool } = await loadPg();
  const pool = new Pool({ connectionString: options.url, max: 1, connectionTimeoutMillis: 5_000 });
  pool.on?.("error", () => {});
  const asking = pool as unknown as Asking;
  const ask: Ask = async (text, values = []) =>
    (await asking.query({ text, values: [...values], rowMode: "array" })).rows;
  try {
    const [[version = ""] = []] = await ask("SELECT current_setting('server_version')");
    const [found, functions] = await versionsIn(ask, name);
    const schema = schemaState(found, MIGRATIONS.length);
    const findings = [
      schemaFinding(schema),
      ...functionFindings(functions, schema.state === "current"),
      ...(schema.state === "current" ? await indexFindings(ask, name) : []),
      ...(await settingFindings(ask)),
      ...(await snapshotFindings(ask, options.longTransactionMs ?? FIVE_MINUTES_MS)),
      ...(found > 0 ? await bloatFindings(ask, name) : []),
    ];
    return { store: "postgres", version: `PostgreSQL ${String(version)}`, schema, findings };
  } catch (error) {
    throw openFailure(error, options.url);
  } finally {
    await pool.end();
  }
}

async function versionsIn(ask: Ask, schema: string): Promise<readonly [number, number]> {
  const there = await ask(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta'",
    [schema],
  );
  if (there.length === 0) return [0, 0];
  const rows = await ask(`SELECT key, value FROM "${schema}".meta`);
  const values = new Map(rows.map(([key, value]) => [key, Number(value)]));
  return [values.get("schema") ?? 0, values.get("functions") ?? 0];
}

function functionFindings(functions: number, isCurrent: boolean): Finding[] {
  if (!isCurrent || functions >= FUNCTIONS_REVISION) return [];
  return [
    {
      ...{ check: "functions", level: "warning" },
      message: `the functions are revision ${functions}, this Holdfast has ${FUNCTIONS_REVISION}: run holdfast migrate up, or let the next start do it`,
    },
  ];
}

/** Every index that the migrations make. */
function wantedIndexes(): readonly string[] {
  const made = MIGRATIONS.join("\n").matchAll(/CREATE (?:UNIQUE )?INDEX (\w+)/g);
  const dropped = [...MIGRATIONS.join("\n").matchAll(/DROP INDEX (?:holdfast\.)?(\w+)/g)];
  const gone = new Set(dropped.map(([, name]) => name));
  return [...new Set([...made].flatMap(([, name]) => name ?? []))].filter(
    (name) => !gone.has(name),
  );
}

async function indexFindings(ask: Ask, schema: string): Promise<Finding[]> {
  const rows = await ask(
    `SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1`,
    [schema],
  );
  const found = new Map(rows.map(([name, isValid]) => [name, isValid === true]));
  const missing = wantedIndexes().filter((name) => found.get(name) !== true);
  if (missing.length === 0)
    return [{ check: "indexes", level: "ok", message: "every index is there" }];
  return [
    {
      ...{ check: "indexes", level: "trouble" },
      message: `the index ${missing.join(", ")} of schema ${schema} is missing or not valid, and what needs it reads whole tables: create it as holdfast migrate sql has it`,
    },
  ];
}

async function settingFindings(ask: Ask): Promise<Finding[]> {
  const [row = []] = await ask(`
    SELECT current_setting('fsync'), current_setting('synchronous_commit'),
      current_setting('autovacuum'), pg_is_in_recovery()`);
  const [fsync, commit, autovacuum, isReplica] = row;
  return [
    ...(isReplica === true
      ? [trouble("replica", "this is a replica, which takes no writes: use the URL of the primary")]
      : []),
    ...(fsync === "on" && commit !== "off"
      ? [{ check: "durability", level: "ok" as const, message: "a commit survives a power loss" }]
      : [
          trouble(
            "durability",
            `fsync is ${String(fsync)} and synchronous_commit ${String(commit)}: a power loss may lose acknowledged jobs. Set both to on`,
          ),
        ]),
    ...(autovacuum === "on"
      ? []
      : [
          trouble(
            "autovacuum",
            "autovacuum is off: tables of jobs grow without bound. Set it to on",
          ),
        ]),
  ];
}

/** A snapshot that stays open keeps every dead row of a table that is written all the time. */
async function snapshotFindings(ask: Ask, longMs: number): Promise<Finding[]> {
  const rows = await ask(
    `SELECT pid, coalesce(usename, ''), coalesce(application_name, ''), state,
       floor(extract(epoch FROM now() - xact_start) * 1000)
     FROM pg_stat_activity
     WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'
       AND datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL OR state LIKE 'idle in transaction%')
       AND now() - xact_start >= $1 * interval '1 millisecond'
     ORDER BY xact_start LIMIT 5`,
    [longMs],
  );
  const found = rows.map(([pid, user, app, state, ms]): Finding => {
    const who = [`user ${String(user)}`, ...(app === "" ? [] : [`application ${String(app)}`])];
    const seconds = Math.round(Number(ms) / 1_000);
    return {
      ...{ check: "open transaction", level: "warning" },
      message: `process ${String(pid)} (${who.join(", ")}, ${String(state)}) has had a transaction open for ${seconds} s, so nothing deleted since then can be cleaned up: end it, or SELECT pg_terminate_backend(${String(pid)})`,
    };
  });
  const prepared = await ask("SELECT gid FROM pg_prepared_xacts LIMIT 1");
  const [gid] = prepared[0] ?? [];
  return [
    ...found,
    ...(gid === undefined
      ? []
      : [
          trouble(
            "prepared transaction",
            `the prepared transaction ${String(gid)} is open: COMMIT PREPARED or ROLLBACK PREPARED it`,
          ),
        ]),
    ...(found.length === 0 && gid === undefined
      ? [
          {
            check: "open transaction",
            level: "ok" as const,
            message: "no transaction is open for long",
          },
        ]
      : []),
  ];
}

async function bloatFindings(ask: Ask, schema: string): Promise<Finding[]> {
  const rows = await ask(
    "SELECT relname, n_dead_tup, n_live_tup FROM pg_stat_user_tables WHERE schemaname = $1",
    [schema],
  );
  return rows.flatMap(([name, dead, live]): Finding[] => {
    const [gone, kept] = [Number(dead), Number(live)];
    if (gone < MANY_DEAD || gone < (gone + kept) * DEAD_SHARE) return [];
    return [
      {
        ...{ check: "dead rows", level: "warning" },
        message: `table ${String(name)} has ${gone} dead rows beside ${kept} live ones: is autovacuum too slow, or a transaction open? VACUUM ${schema}.${String(name)} helps now`,
      },
    ];
  });
}

function trouble(check: string, message: string): Finding {
  return { check, level: "trouble", message };
}
