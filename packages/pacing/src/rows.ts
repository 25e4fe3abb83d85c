/**
 * The row of a simulation that outlives its jobs: status, start, end, records processed. It is in the ledger's
 * store, and is what `simulations` shows in SQL. It follows the truth in the jobs' store and is never read to decide
 * anything.
 */
import type { Holdfast } from "holdfast";
import { recordKeys } from "./names.ts";
import type { Counters } from "./report.ts";
import { countersOf } from "./report.ts";
import type { Totals } from "./segment-record.ts";
import type { SimulationRecord, SimulationStatus } from "./simulation.ts";
import type { Workshop } from "./workshop.ts";

export interface SimulationRow {
  readonly id: string;
  readonly status: SimulationStatus;
  readonly start: number;
  readonly end: number;
  readonly records_total: number;
  readonly records_processed: number;
  readonly counters: Counters;
  readonly updated_at: number;
}

export class Rows {
  readonly #hf: Holdfast;

  constructor(hf: Holdfast) {
    this.#hf = hf;
  }

  /** Null: there is none. */
  async read(id: string): Promise<SimulationRow | null> {
    const [found] = await this.#hf.tools.ledgerRecords.read([recordKeys.row(id)]);
    return found ? (JSON.parse(found.value) as SimulationRow) : null;
  }

  /** Where it is late or away, the next one says the same or more. */
  async write(sim: SimulationRecord, totals: Totals, now: number): Promise<void> {
    const records = this.#hf.tools.ledgerRecords;
    const key = recordKeys.row(sim.id);
    const row: SimulationRow = {
      ...{ id: sim.id, status: sim.status, start: sim.plan.start, end: sim.plan.end },
      ...{ records_total: sim.plan.count, records_processed: totals.created + totals.failed },
      ...{ counters: countersOf(totals), updated_at: now },
    };
    try {
      const [found] = await records.read([key]);
      const before = found ? (JSON.parse(found.value) as SimulationRow) : null;
      if (before && JSON.stringify({ ...before, updated_at: now }) === JSON.stringify(row)) return;
      const value = JSON.stringify(row);
      await records.swap([{ key, expect: found?.version ?? null, value, ttlMs: null }]);
    } catch (error) {
      this.#hf.tools.logger.warn("the row of a simulation could not be written yet", {
        ...{ simulation: sim.id, error },
      });
    }
  }
}

/**
 * The row follows the record. After it was written the record is read again: upkeep that looked before a simulation was
 * paused or aborted would otherwise leave a row that says `running`, and no one would come to put it right.
 */
export async function followStatus(
  { book, rows }: Pick<Workshop, "book" | "rows">,
  sim: SimulationRecord,
  totals: Totals,
  now: number,
): Promise<void> {
  for (let known = sim; ;) {
    await rows.write(known, totals, now);
    const found = await book.desk.read<SimulationRecord>(recordKeys.simulation(sim.id));
    if (found === null || found.status === known.status) return;
    known = found;
  }
}

/** The view `simulations` over those rows, for the ledger's database. `schema`: of the PostgreSQL store. */
export function simulationsView(store: "sqlite" | "postgres", schema = "holdfast"): string {
  const [from, to] = [recordKeys.rows, `${recordKeys.rows.slice(0, -1)}0`];
  if (store === "sqlite") {
    const word = (name: string) => `value ->> '$.${name}'`;
    const time = (name: string) =>
      `strftime('%Y-%m-%dT%H:%M:%fZ', (${word(name)}) / 1000.0, 'unixepoch')`;
    return [
      "CREATE VIEW IF NOT EXISTS simulations AS",
      `SELECT ${word("id")} AS id, ${word("status")} AS status,`,
      `  ${time("start")} AS start_time, ${time("end")} AS end_time,`,
      `  ${word("records_total")} AS records_total, ${word("records_processed")} AS records_processed`,
      `FROM holdfast_record WHERE key >= '${from}' AND key < '${to}';`,
    ].join("\n");
  }
  const word = (name: string) => `value::jsonb ->> '${name}'`;
  const time = (name: string) => `to_timestamp((${word(name)})::double precision / 1000)`;
  return [
    "CREATE OR REPLACE VIEW simulations AS",
    `SELECT ${word("id")} AS id, ${word("status")} AS status,`,
    `  ${time("start")} AS start_time, ${time("end")} AS end_time,`,
    `  (${word("records_total")})::bigint AS records_total, (${word("records_processed")})::bigint AS records_processed`,
    `FROM ${schema}.record WHERE key >= '${from}' AND key < '${to}';`,
  ].join("\n");
}
