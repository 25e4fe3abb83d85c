/** A table or a collection of its own on each target, and what is in it. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MongoClient } from "mongodb";
import pg from "pg";
import type { ImportTarget } from "../../packages/imports/src/targets/target.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { targetOf, type TargetName } from "./target-of.ts";

export interface TargetPlace {
  /** What another process opens the same with: a file or a URL. */
  readonly url: string;
  target(): ImportTarget;
  /** All rows, by their email, without what the database adds. */
  rows(): Promise<Readonly<Record<string, unknown>>[]>;
  drop(): Promise<void>;
}

/** `name` must not be "refused": a way to make a target refuse a row. */
const TABLE = `CREATE TABLE people (email text PRIMARY KEY, name text CHECK (name <> 'refused'),
  amount numeric, day text, n int)`;

export async function targetPlace(name: TargetName): Promise<TargetPlace> {
  if (name === "sqlite") return sqlitePlace();
  return name === "postgres" ? postgresPlace() : mongodbPlace(name);
}

async function sqlitePlace(): Promise<TargetPlace> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-target-"));
  const file = join(folder, "app.db");
  const db = new DatabaseSync(file);
  db.exec(
    `PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000; ${TABLE.replace("numeric", "real")}`,
  );
  return {
    url: file,
    target: () => targetOf("sqlite", file),
    rows: async () => db.prepare("SELECT * FROM people ORDER BY email").all().map(withoutNulls),
    async drop() {
      db.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function postgresPlace(): Promise<TargetPlace> {
  const { url, drop } = await postgresDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  // Its database goes while its connections are being closed.
  pool.on("error", () => {});
  await pool.query(TABLE);
  return {
    url,
    target: () => targetOf("postgres", url),
    async rows() {
      const columns = 'email, name, amount::float8 AS amount, "day", n';
      const { rows } = await pool.query(`SELECT ${columns} FROM people ORDER BY email COLLATE "C"`);
      return rows.map(withoutNulls);
    },
    async drop() {
      await pool.end();
      await drop();
    },
  };
}

async function mongodbPlace(name: "mongodb" | "mongodb-standalone"): Promise<TargetPlace> {
  const server = new URL(await serverUrl(name));
  server.pathname = `/test_${randomBytes(6).toString("hex")}`;
  const client = new MongoClient(server.href);
  const db = client.db();
  await db.createCollection("people", { validator: { name: { $ne: "refused" } } });
  return {
    url: server.href,
    target: () => targetOf(name, server.href),
    async rows() {
      const found = await db.collection("people").find().sort({ email: 1 }).toArray();
      return found.map(({ _id, ...row }) => withoutNulls(row));
    },
    async drop() {
      await db.dropDatabase();
      await client.close();
    },
  };
}

function withoutNulls(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
