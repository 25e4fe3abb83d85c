/** Empty databases on the shared PostgreSQL server, for programs that bring nothing but a URL. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { serverUrl } from "./server-desk.ts";

export interface PostgresDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function postgresDatabase(): Promise<PostgresDatabase> {
  const server = await serverUrl("postgres");
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  await ask(server, `CREATE DATABASE "${name}"`);
  return {
    url: url.href,
    drop: () => ask(server, `DROP DATABASE "${name}" WITH (FORCE)`),
  };
}

async function ask(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
