/**
 * A PostgreSQL server of the run's own, with everything on that makes a commit durable, and a database
 * for each place. A database is copied by the server itself, as a template.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { startOwnPostgres } from "../../test/servers/postgres.ts";
import type { Ground, Site, SiteOptions } from "../ground.ts";

/** As on a small machine in earnest. The rest is as PostgreSQL has it. */
const SETTINGS = [
  "fsync=on",
  "full_page_writes=on",
  "synchronous_commit=on",
  "shared_buffers=512MB",
  "max_wal_size=4GB",
  // Not in the middle of one contender's turn.
  "checkpoint_timeout=30min",
];
const SHOWN = ["fsync", "synchronous_commit", "full_page_writes", "autovacuum", "shared_buffers"];

/** As autovacuum would: a table whose settings keep it from being analysed is left out. */
const ANALYSED = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND NOT coalesce(c.reloptions, '{}') @> ARRAY['autovacuum_analyze_threshold=2000000000']`;

export async function openPostgres({ folder }: Pick<SiteOptions, "folder">): Promise<Site> {
  // That is where servers of our own put their data.
  process.env["TMPDIR"] = folder;
  const server = await startOwnPostgres({ settings: SETTINGS });
  const version = await valueOf(server.url, "server_version");
  const shown: string[] = [];
  for (const name of SHOWN) shown.push(`${name} ${await valueOf(server.url, name)}`);
  const facts = `PostgreSQL ${version}, ${shown.join(", ")}`;
  if (!facts.includes("fsync on, synchronous_commit on")) {
    await server.stop();
    throw new Error(`the server is not durable: ${facts}`);
  }
  return { address: server.url, facts, close: () => server.stop() };
}

export async function postgresGround(address: string): Promise<Ground> {
  const client = new pg.Client(address);
  await client.connect();
  const { rows } = await client.query<{ v: number }>(
    "SELECT current_setting('server_version_num')::int AS v",
  );
  // File by file, as it always was before 15: a large one is there in a moment, and not in the WAL.
  const strategy = (rows[0]?.v ?? 0) >= 150_000 ? " STRATEGY file_copy" : "";
  const create = async (from: string): Promise<string> => {
    const name = `bench_${randomBytes(6).toString("hex")}`;
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${from}${strategy}`);
    // Flushed before anything is measured.
    await client.query("CHECKPOINT");
    const place = new URL(address);
    place.pathname = `/${name}`;
    return place.href;
  };
  return {
    make: () => create("template1"),
    copy: (master) => create(nameOf(master)),
    async rest(place) {
      const inside = new pg.Client(place);
      await inside.connect();
      await inside.query("VACUUM");
      const { rows: tables } = await inside.query<{ name: string }>(ANALYSED);
      for (const { name } of tables) await inside.query(`ANALYZE ${name}`);
      await inside.query("CHECKPOINT");
      await inside.end();
    },
    async remove(place) {
      await deserted(client, nameOf(place));
      await client.query(`DROP DATABASE ${nameOf(place)} WITH (FORCE)`);
    },
    close: () => client.end(),
  };
}

/** A driver's pool is closed a moment before its connections are, and may cry out if they are cut. */
async function deserted(client: pg.Client, name: string): Promise<void> {
  for (let look = 0; look < 500; look++) {
    const { rowCount } = await client.query("SELECT FROM pg_stat_activity WHERE datname = $1", [
      name,
    ]);
    if (rowCount === 0) return;
    await pause(10);
  }
}

function nameOf(place: string): string {
  return new URL(place).pathname.slice(1);
}

async function valueOf(url: string, setting: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(`SHOW ${setting}`);
  await client.end();
  return Object.values(rows[0] ?? {})[0] ?? "unknown";
}
