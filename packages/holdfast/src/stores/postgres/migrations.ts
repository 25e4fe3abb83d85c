/**
 * Brings the schema up to date. Steps are numbered from 1 and never edited once released; they run in
 * one transaction under one lock, with the version they lead to, so ten processes that open a new
 * database at once take turns, and nine of them find nothing left to do.
 *
 * Functions are code, not data: they are replaced as a whole, by whoever brings a higher revision. A
 * released function's arguments, and what it means, are a promise to workers of the version before,
 * which may still be running: what must change gets a new name, and the old one goes a release later.
 */
import { StoreOpenError } from "../../core/errors.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { BYTE_BOUND_FUNCTIONS } from "./byte-bound.ts";
import { CLOCK_FUNCTION } from "./clock.ts";
import { COUNT_DEAD_FUNCTIONS, DEAD_COUNTS } from "./count-dead.ts";
import { COUNT_FUNCTION } from "./count.ts";
import type { Session } from "./database.ts";
import { DISOWN_FUNCTIONS } from "./disown.ts";
import { INSERT_FUNCTION } from "./insert-function.ts";
import { LEASE_FUNCTION } from "./lease-function.ts";
import { RING_FUNCTIONS } from "./line-ring.ts";
import { PRUNE_FUNCTION } from "./prune-function.ts";
import { SWAP_FUNCTION } from "./records.ts";
import { SWEEP_BLOCKS_FUNCTION } from "./queue-blocks.ts";
import { REAP_FUNCTIONS } from "./reap.ts";
import { RENEW_FUNCTION } from "./renew-function.ts";
import { isTrue, number, numberOrNull } from "./row-values.ts";
import { SchemaName } from "./schema-name.ts";
import { BLOCK_ORDER, DISOWNING, LINE_RING, LOOKING, STEADY_CLOCK } from "./schema-additions.ts";
import { TABLES, VACUUM_SETTINGS } from "./schema.ts";
import { SETTLE_FUNCTION } from "./settle-function.ts";
import { TAKE_BACK_FUNCTION } from "./take-back.ts";
import { TALLY_FUNCTIONS } from "./tally.ts";
import { BURY_FUNCTION } from "./tombstones.ts";
import { VIEW_FUNCTION } from "./view-function.ts";
import { VIEWS } from "./views.ts";
import { WALK_FUNCTIONS } from "./walk-function.ts";

export const MIGRATIONS: readonly string[] = [
  `${TABLES}\n${VACUUM_SETTINGS}\n`,
  DISOWNING,
  LINE_RING,
  LOOKING,
  STEADY_CLOCK,
  VIEWS,
  DEAD_COUNTS,
  BLOCK_ORDER,
];

/**
 * The oldest version of the schema whose code can work with this one: what came since is added, and that
 * code need not know of it. Raise it when a step asks something of every writer; then programs of the
 * version before are refused, and there is no way back to them.
 */
export const SERVES_FROM = 5;

/** Raised whenever the text of a function changes. */
export const FUNCTIONS_REVISION = 12;

export const FUNCTIONS = [
  CLOCK_FUNCTION,
  TALLY_FUNCTIONS,
  BURY_FUNCTION,
  INSERT_FUNCTION,
  WALK_FUNCTIONS,
  RING_FUNCTIONS,
  BYTE_BOUND_FUNCTIONS,
  LEASE_FUNCTION,
  SETTLE_FUNCTION,
  RENEW_FUNCTION,
  TAKE_BACK_FUNCTION,
  REAP_FUNCTIONS,
  DISOWN_FUNCTIONS,
  SWAP_FUNCTION,
  VIEW_FUNCTION,
  COUNT_FUNCTION,
  COUNT_DEAD_FUNCTIONS,
  PRUNE_FUNCTION,
  SWEEP_BLOCKS_FUNCTION,
].join("\n");

interface Versions {
  /** Null: the schema itself is not there. */
  readonly tables: number | null;
  readonly functions: number;
  /** The oldest code that the tables serve; null if they do not say. */
  readonly servesFrom: number | null;
}

const NOTHING_YET: Versions = { tables: null, functions: 0, servesFrom: null };

/**
 * A step waits for every transaction that has used its tables, and whoever comes after waits behind it: so
 * a transaction that a program keeps open would stop the whole fleet. A step waits for so long only; then
 * all of them fail, and the caller tries again when the others have come through.
 */
const LONGEST_WAIT_MS = 1_000;

export async function migrate(session: Session, schema: SchemaName): Promise<void> {
  if (isUpToDate(await versionsOf(session, schema))) return;
  await session.script(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0`);
  try {
    const lock = `hashtextextended('holdfast:${schema.name}', 0)`;
    await session.script(`SELECT pg_advisory_xact_lock(${lock})`);
    await session.script(`SET LOCAL lock_timeout = ${LONGEST_WAIT_MS}`);
    // Somebody else may have done it while we waited.
    const versions = await versionsOf(session, schema);
    if (!isUpToDate(versions)) await session.script(stepsFrom(versions, schema));
    await session.script("COMMIT");
  } catch (error) {
    await session.script("ROLLBACK").catch(() => {});
    throw error;
  }
}

/**
 * Everything a new database needs, for those who run migrations by hand. Run a second time it fails
 * at its first line, and changes nothing.
 */
export function postgresSchemaSql(options: { readonly schema?: string } = {}): string {
  checkOptions("postgresSchemaSql", options, ["schema"]);
  const schema = new SchemaName(options.schema ?? "holdfast");
  const steps = stepsFrom(NOTHING_YET, schema);
  return `BEGIN;\n${schema.put(steps)}\nCOMMIT;\n`;
}

function stepsFrom({ tables, functions }: Versions, schema: SchemaName): string {
  const steps = [
    ...(tables === null ? [`CREATE SCHEMA "${schema.name}";`] : []),
    ...MIGRATIONS.slice(tables ?? 0),
    ...(functions < FUNCTIONS_REVISION ? [FUNCTIONS] : []),
    `INSERT INTO holdfast.meta (key, value) VALUES ('schema', '${MIGRATIONS.length}'),
       ('functions', '${Math.max(functions, FUNCTIONS_REVISION)}'),
       ('works_with', '${SERVES_FROM}'), ('id', gen_random_uuid()::text)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE excluded.key <> 'id';`,
  ];
  return steps.join("\n");
}

async function versionsOf(session: Session, { name }: SchemaName): Promise<Versions> {
  // Of the catalogue itself: to_regclass would answer from a cache that is older than the lock.
  const [there] = await session.script(`
    SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '${name}'),
      EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = '${name}' AND c.relname = 'meta')`);
  if (there === undefined || !isTrue(there, 0)) return NOTHING_YET;
  if (!isTrue(there, 1)) return { ...NOTHING_YET, tables: 0 };
  const [row] = await session.script(`
    SELECT coalesce((SELECT value::integer FROM holdfast.meta WHERE key = 'schema'), 0),
      coalesce((SELECT value::integer FROM holdfast.meta WHERE key = 'functions'), 0),
      (SELECT value::integer FROM holdfast.meta WHERE key = 'works_with')`);
  if (row === undefined) throw new Error("a statement without a row");
  return { tables: number(row, 0), functions: number(row, 1), servesFrom: numberOrNull(row, 2) };
}

function isUpToDate({ tables, functions, servesFrom }: Versions): boolean {
  if ((tables ?? 0) > MIGRATIONS.length) {
    // A newer Holdfast has added to it, and says whether this one can still work with it.
    if (servesFrom !== null && servesFrom <= MIGRATIONS.length) return true;
    const needs = servesFrom === null ? "a newer one" : `version ${servesFrom} or newer`;
    throw new StoreOpenError(
      `a newer Holdfast wrote this database: its schema is version ${tables} and needs code of ${needs}, this one has version ${MIGRATIONS.length}: upgrade the holdfast package here, or use another schema`,
    );
  }
  return tables === MIGRATIONS.length && functions >= FUNCTIONS_REVISION;
}
