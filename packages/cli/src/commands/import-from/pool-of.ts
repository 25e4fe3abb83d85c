/** A connection to a database that has the tables of another system. */
import type pg from "pg";
import { CliError, ExitCode } from "../../exit-code.ts";

export async function poolOf(
  driver: typeof pg,
  url: string,
  { schema, table }: { readonly schema: string; readonly table: string },
): Promise<pg.Pool> {
  const pool = new driver.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5_000 });
  // Whatever waits for it hears of it as well.
  pool.on("error", () => {});
  try {
    const { rowCount } = await pool.query(
      "SELECT 1 FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2",
      [schema, table],
    );
    if (rowCount !== 0) return pool;
    throw new CliError(
      ExitCode.notFound,
      `there is no table ${table} in the schema ${JSON.stringify(schema)}: name its schema with --at`,
    );
  } catch (error) {
    await pool.end();
    throw error;
  }
}
