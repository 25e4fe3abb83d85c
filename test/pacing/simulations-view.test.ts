/** The row of a simulation in the ledger's store, as SQL shows it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Pacing, simulationsView } from "@holdfast/pacing";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { postgresStore } from "holdfast/postgres";
import { sqliteStore } from "holdfast/sqlite";
import { expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";

const plan = { id: "seen", records: 40, start: new Date(0), durationMs: 3_600_000 };

it("SQLite shows simulations whose jobs are in another store", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-view-"));
  const file = join(folder, "ledger.db");
  const hf = new Holdfast({ store: memoryStore(), ledger: sqliteStore({ file }) });
  await new Pacing(hf).create(plan);
  await hf.close();
  const database = new DatabaseSync(file);
  database.exec(simulationsView("sqlite"));
  expect({ ...database.prepare("SELECT * FROM simulations").get() }).toEqual({
    ...{ id: "seen", status: "created", records_total: 40, records_processed: 0 },
    ...{ start_time: "1970-01-01T00:00:00.000Z", end_time: "1970-01-01T01:00:00.000Z" },
  });
  database.close();
  await rm(folder, { recursive: true, force: true });
});

it("PostgreSQL shows the same", async (test) => {
  onlyInFull(test);
  const { url, drop } = await postgresDatabase();
  const hf = new Holdfast({ store: postgresStore({ url }) });
  await new Pacing(hf).create(plan);
  await hf.close();
  const { Client } = await import("pg");
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(simulationsView("postgres"));
  const { rows } = await client.query("SELECT * FROM simulations");
  expect(rows).toMatchObject([{ id: "seen", status: "created", records_total: "40" }]);
  await client.end();
  await drop();
});
