/**
 * Autovacuum looks about once a minute, and a busy queue leaves half a million dead rows in a minute,
 * which every lease then steps over. So whoever reaps and sees that many asks for a vacuum at once. It
 * takes a moment, locks nobody out, and one at a time is enough: a table that is being vacuumed is
 * passed by.
 *
 * If nothing was gained, somebody holds an old snapshot open, and there is no use in trying again
 * soon. A user who does not own the tables may not vacuum them; then this does nothing.
 */
import type { Database } from "./database.ts";
import { number } from "./row-values.ts";

const MANY_DEAD_ROWS = 50_000;
const WAIT_MS = 5_000;
const WAIT_IN_VAIN_MS = 60_000;
/** With a million jobs waiting, the index takes a while to go through. */
const DEADLINE_MS = 60_000;

/** Part of a statement. */
export const DEAD_ROWS = `pg_stat_get_dead_tuples('holdfast.ready'::regclass)
      + pg_stat_get_dead_tuples('holdfast.leased'::regclass)`;
const VACUUM = `
  VACUUM (SKIP_LOCKED, TRUNCATE false) holdfast.ready, holdfast.leased, holdfast.delayed`;

export class Upkeep {
  readonly #db: Database;
  #nextAt = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Does what is to be done; nobody need wait for it. */
  async look(deadRows: number): Promise<void> {
    if (deadRows < MANY_DEAD_ROWS || performance.now() < this.#nextAt) return;
    this.#nextAt = performance.now() + WAIT_IN_VAIN_MS;
    try {
      const left = await this.#db.session(async (session) => {
        await session.script(VACUUM);
        const [row] = await session.script(`SELECT ${DEAD_ROWS}`);
        return row === undefined ? 0 : number(row, 0);
      }, DEADLINE_MS);
      if (left < deadRows / 2) this.#nextAt = performance.now() + WAIT_MS;
    } catch {
      // Autovacuum will come.
    }
  }
}
