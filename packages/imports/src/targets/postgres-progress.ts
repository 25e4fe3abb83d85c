/** How far an import has come, beside its rows: two small tables in the schema of the target's table. */
import { ImportOvertakenError, ImportTargetError } from "../errors.ts";
import { codeOf, type ClientLike } from "./postgres-driver.ts";
import {
  KEEP_FINISHED_DAYS,
  KEEP_UNFINISHED_DAYS,
  type Batch,
  type BatchAnswer,
  type Beginning,
  type Ending,
  type ImportState,
  type RowError,
} from "./target.ts";

const NOT_ALLOWED = "42501";
const NO_TABLE = "42P01";
/** Another process makes the same table at the same time. */
const MADE_MEANWHILE = new Set(["23505", "42P07", "42710", "XX000"]);

export class PostgresProgress {
  readonly #imports: string;
  readonly #errors: string;

  /** `"billing".`, or nothing. */
  constructor(schema: string) {
    this.#imports = `${schema}holdfast_import`;
    this.#errors = `${schema}holdfast_import_error`;
  }

  async begin(client: ClientLike, { job, fence, type, file }: Beginning): Promise<ImportState> {
    await this.#make(client);
    const { rows } = await client.query(
      `INSERT INTO ${this.#imports} AS i (job, type, file, fence) VALUES ($1, $2, $3, $4)
       ON CONFLICT (job) DO UPDATE SET fence = EXCLUDED.fence WHERE i.fence <= EXCLUDED.fence
       RETURNING file, up_to, total, inserted, updated, failed, notes,
         finished_at IS NOT NULL AS is_over`,
      [job, type, file, fence],
    );
    if (rows.length === 0) throw overtaken();
    const row = rows[0] as Readonly<Record<string, unknown>>;
    return {
      ...{ file: String(row.file), upTo: Number(row.up_to), totalRows: Number(row.total) },
      ...{ inserted: Number(row.inserted), updated: Number(row.updated) },
      ...{ failed: Number(row.failed), isFinished: row.is_over === true },
      notes: typeof row.notes === "string" ? row.notes : null,
    };
  }

  async advance(client: ClientLike, batch: Batch, answer: BatchAnswer): Promise<void> {
    const { job, fence, after, upTo, totalRows, keep } = batch;
    const { inserted, updated, failures } = answer;
    const { rows } = await client.query(
      `UPDATE ${this.#imports} SET up_to = $4, total = total + $5, inserted = inserted + $6,
         updated = updated + $7, failed = failed + $8
       WHERE job = $1 AND fence = $2 AND up_to = $3 AND finished_at IS NULL RETURNING 1`,
      [job, fence, after, upTo, totalRows, inserted, updated, failures.length],
    );
    if (rows.length === 0) throw overtaken();
    const kept = failures.slice(0, keep);
    if (kept.length === 0) return;
    await client.query(
      `INSERT INTO ${this.#errors} (job, row, reason)
       SELECT $1, * FROM unnest($2::int[], $3::text[]) ON CONFLICT DO NOTHING`,
      [job, kept.map(({ row }) => row), kept.map(({ reason }) => reason)],
    );
  }

  async finish(client: ClientLike, { job, fence, after, notes }: Ending): Promise<void> {
    const { rows } = await client.query(
      `UPDATE ${this.#imports} SET finished_at = now(), notes = $4
       WHERE job = $1 AND fence = $2 AND up_to = $3 RETURNING 1`,
      [job, fence, after, notes],
    );
    if (rows.length === 0) throw overtaken();
  }

  async failures(client: ClientLike, job: string, limit: number): Promise<readonly RowError[]> {
    try {
      const { rows } = await client.query(
        `SELECT row, reason FROM ${this.#errors} WHERE job = $1 ORDER BY row LIMIT $2`,
        [job, limit],
      );
      return rows.map((found) => {
        const { row, reason } = found as { readonly row: unknown; readonly reason: unknown };
        return { row: Number(row), reason: String(reason) };
      });
    } catch (error) {
      // No import has begun here yet.
      if (codeOf(error) === NO_TABLE) return [];
      throw error;
    }
  }

  async #make(client: ClientLike): Promise<void> {
    const { rows } = await client.query("SELECT to_regclass($1) AS there", [this.#errors]);
    if ((rows[0] as { there: unknown }).there !== null) return this.#forgetOld(client);
    const statements = [
      `CREATE TABLE IF NOT EXISTS ${this.#imports} (
         job text PRIMARY KEY, type text NOT NULL, file text NOT NULL, fence bigint NOT NULL,
         up_to bigint NOT NULL DEFAULT 0, total bigint NOT NULL DEFAULT 0,
         inserted bigint NOT NULL DEFAULT 0, updated bigint NOT NULL DEFAULT 0,
         failed bigint NOT NULL DEFAULT 0, started_at timestamptz NOT NULL DEFAULT now(),
         finished_at timestamptz, notes text)`,
      `CREATE TABLE IF NOT EXISTS ${this.#errors} (
         job text NOT NULL, row int NOT NULL, reason text NOT NULL, PRIMARY KEY (job, row))`,
    ];
    for (const statement of statements) {
      try {
        await client.query(statement);
      } catch (error) {
        if (codeOf(error) === NOT_ALLOWED) {
          throw new ImportTargetError(
            `this user may not make the two tables in which an import says how far it has come; have them made: ${statements.join("; ").replaceAll(/\s+/g, " ")}`,
            { cause: error },
          );
        }
        if (!MADE_MEANWHILE.has(codeOf(error))) throw error;
      }
    }
  }

  async #forgetOld(client: ClientLike): Promise<void> {
    await client.query(
      `WITH old AS (DELETE FROM ${this.#imports} WHERE job IN (
         SELECT job FROM ${this.#imports} WHERE finished_at < now() - interval '${KEEP_FINISHED_DAYS} days'
           OR started_at < now() - interval '${KEEP_UNFINISHED_DAYS} days' LIMIT 100) RETURNING job)
       DELETE FROM ${this.#errors} WHERE job IN (SELECT job FROM old)`,
    );
  }
}

function overtaken(): ImportOvertakenError {
  return new ImportOvertakenError("a newer attempt goes on with this import");
}
