/**
 * A workbook of 50,000 rows into a table of PostgreSQL, against COPY of the same rows plus one merge:
 * `node --conditions=@holdfast/source bench/imports-end-to-end.ts [--rows n] [--rounds n]`.
 */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeXlsx } from "hucre";
import pg from "pg";
import { z } from "zod";
import { defineImport, openImports, postgresTarget } from "@holdfast/imports";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { startPostgres } from "../test/servers/postgres.ts";

const { values } = parseArgs({
  options: { rows: { type: "string", default: "50000" }, rounds: { type: "string", default: "3" } },
});
const ROWS = Number(values.rows);
const COLUMNS = ["sku", "name", "vendor", "city", "price", "stock", "active", "day"];
const TABLE = `(sku text PRIMARY KEY, name text, vendor text, city text, price numeric, stock int,
  active boolean, day date)`;

function cells(n: number): (string | number | boolean)[] {
  const words = [`SKU-${n}`, `Part number ${n}`, `Vendor ${n % 500}`, `Zürich ${n % 90}`];
  return [...words, (n % 10_000) / 4, n % 977, n % 3 === 0, `2026-0${1 + (n % 9)}-15`];
}

const server = await startPostgres();
const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-imports-"));
const pool = new pg.Pool({ connectionString: server.url, max: 4 });
const rows = Array.from({ length: ROWS }, (_, n) => cells(n));
await writeFile(
  join(folder, "parts.xlsx"),
  await writeXlsx({ sheets: [{ name: "Parts", rows: [COLUMNS, ...rows] as never }] }),
);
await writeFile(join(folder, "parts.csv"), `${rows.map((row) => row.join(",")).join("\n")}\n`, {
  mode: 0o644,
});

async function half(): Promise<void> {
  await pool.query(`DROP TABLE IF EXISTS parts; CREATE TABLE parts ${TABLE}`);
  await pool.query(
    `INSERT INTO parts (sku, name) SELECT 'SKU-' || n, 'old' FROM generate_series(0, $1::int) n`,
    [Math.floor(ROWS / 2) - 1],
  );
  await pool.query("VACUUM ANALYZE parts");
}

/** The server reads a file itself, then merges it in one statement: there is no faster way. */
async function copyAndMerge(): Promise<number> {
  await half();
  const client = await pool.connect();
  const set = COLUMNS.slice(1).map((column) => `${column} = EXCLUDED.${column}`);
  const began = performance.now();
  try {
    await client.query("BEGIN");
    await client.query(`CREATE TEMP TABLE incoming ${TABLE} ON COMMIT DROP`);
    await client.query(`COPY incoming FROM '${join(folder, "parts.csv")}' (FORMAT csv)`);
    await client.query(
      `INSERT INTO parts SELECT * FROM incoming ON CONFLICT (sku) DO UPDATE SET ${set.join(", ")}`,
    );
    await client.query("COMMIT");
    return performance.now() - began;
  } finally {
    client.release();
  }
}

/** From the file to the settled job, with its checks, its reader's thread and 500 transactions. */
async function importAll(): Promise<number> {
  await half();
  const hf = new Holdfast({ store: memoryStore() });
  const parts = defineImport({
    type: "parts",
    schema: z.object({
      ...{ sku: z.string(), name: z.string(), vendor: z.string(), city: z.string() },
      ...{ price: z.number(), stock: z.int(), active: z.boolean(), day: z.iso.date() },
    }),
    ...{ key: ["sku"], target: postgresTarget({ pool, table: "parts" }) },
  });
  const imports = await openImports(hf as never, { inbox: folder, types: [parts] });
  await hf.work({ queues: ["imports"] });
  const began = performance.now();
  const { id } = await imports.submit("parts.xlsx", { type: "parts" });
  const ended = await hf.waitFor(id);
  const ms = performance.now() - began;
  const { inserted, updated, failed } = (ended as { result: Record<string, number> }).result;
  const isExact = inserted === Math.ceil(ROWS / 2) && updated === Math.floor(ROWS / 2);
  if (!isExact || failed !== 0) throw new Error(`counted ${inserted}, ${updated}, ${failed}`);
  await hf.close();
  return ms;
}

await chmod(folder, 0o755);
const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1] as number;
const copies: number[] = [];
const imported: number[] = [];
for (let round = 0; round < Number(values.rounds); round += 1) {
  copies.push(await copyAndMerge());
  imported.push(await importAll());
}
const [copy, whole] = [median(copies), median(imported)];
console.log(`COPY and merge ${copy.toFixed(0)} ms, import ${whole.toFixed(0)} ms`);
console.log(
  `${(copy / whole).toFixed(3)} of COPY, ${Math.round(ROWS / (whole / 1000))} rows a second`,
);
await pool.end();
await server.stop();
await rm(folder, { recursive: true });
