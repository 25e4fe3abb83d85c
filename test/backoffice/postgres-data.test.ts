/** The business's data in PostgreSQL, when its connections are lost. */
import pg from "pg";
import { expect, it } from "vitest";
import { PostgresData } from "../../apps/backoffice/src/data/postgres-data.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";

it("a connection that is lost in a transaction fails that transaction, and not the process", async () => {
  const { url, drop } = await postgresDatabase();
  const data = new PostgresData(url);
  try {
    await data.migrate();
    const lost: unknown[] = [];
    process.once("uncaughtException", (error) => lost.push(error));
    const changing = data.transaction(async (tx) => {
      const client = tx.handle as pg.PoolClient;
      const ended = new Promise((resolve) => client.once("end", resolve));
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      await strike(url, rows[0]?.pid ?? 0);
      await ended;
      await tx.count("companies");
    });
    await expect(changing).rejects.toThrow();
    expect(lost).toEqual([]);
    expect(await data.count("companies")).toBe(0);
  } finally {
    await data.close();
    await drop();
  }
});

/** As a restart of the server does. */
async function strike(url: string, pid: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query("SELECT pg_terminate_backend($1)", [pid]);
  } finally {
    await client.end();
  }
}
