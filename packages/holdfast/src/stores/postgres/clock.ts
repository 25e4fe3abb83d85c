/**
 * The store's clock is the database's, in microseconds because fences and record versions are. Every
 * answer brings it along, and every call says how late it was seen to be: the database then takes the
 * later of the two. So the clock of a process never runs backwards, also when a failover leads to a
 * server whose clock is behind.
 *
 * Between processes the mark is carried by the row `holdfast.head`, which reads at open and reap and
 * is written once a second. A row that every transaction writes would be exact, and would let one of
 * them write at a time.
 *
 * A server's clock that was ahead and is put right would make everything wait until real time has caught
 * up. So the store's clock goes on by the rule of `core/steady-clock.ts`: the call that finds the server
 * more than a second behind notes where both stood (`ahead_mark`, `ahead_host`), and from there every
 * process adds nine tenths of what the server's clock goes on. In good order this costs a comparison.
 */
import { CLOCK_WAITS_MS } from "../../core/steady-clock.ts";

export class Clock {
  #micros = 0;

  /** The latest instant this process knows of. */
  get seen(): number {
    return this.#micros;
  }

  saw(micros: number): void {
    if (micros > this.#micros) this.#micros = micros;
  }
}

/** The only place that looks at the server's clock. Its planner puts the body where the call is. */
export const CLOCK_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.clock_us() RETURNS bigint
LANGUAGE sql VOLATILE
AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- What the time is while the server's clock is behind what was seen. p_notes: the caller's transaction
-- is short, so it may lock the row; where another has it, that one notes.
CREATE OR REPLACE FUNCTION holdfast.clock_ahead(p_seen bigint, p_notes boolean) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
  v_host bigint := holdfast.clock_us();
  v_now bigint;
BEGIN
  v_now := (SELECT h.ahead_mark + (v_host - h.ahead_host) * 9 / 10 FROM holdfast.head h WHERE h.one);
  -- Notes of a time before, or of a clock that was set back further since, lead to an earlier instant.
  IF v_now >= p_seen - ${CLOCK_WAITS_MS * 1_000} THEN RETURN greatest(v_now, p_seen); END IF;
  IF p_notes THEN
    UPDATE holdfast.head SET clock = greatest(clock, p_seen), ahead_mark = p_seen,
      ahead_host = v_host
    WHERE ctid = ANY (ARRAY(SELECT h.ctid FROM holdfast.head h FOR UPDATE SKIP LOCKED));
  END IF;
  RETURN p_seen;
END $$;
`;

/** The store's clock in microseconds. `seen`: how late it was seen to be; `notes`: see `clock_ahead`. */
export function clockUs(seen: string, notes = "true"): string {
  return `CASE WHEN holdfast.clock_us() >= ${seen} - ${CLOCK_WAITS_MS * 1_000}
    THEN greatest(holdfast.clock_us(), ${seen}) ELSE holdfast.clock_ahead(${seen}, ${notes}) END`;
}

/** In milliseconds, for those who only read. `seen`: a value in milliseconds. */
export function clockMs(seen: string): string {
  return `(CASE WHEN holdfast.clock_us() / 1000 >= ${seen}::bigint - ${CLOCK_WAITS_MS}
    THEN greatest(holdfast.clock_us() / 1000, ${seen}::bigint)
    ELSE holdfast.clock_ahead(${seen}::bigint * 1000, false) / 1000 END)`;
}

/** The end of a hold without an end. */
export const FOREVER = Number.MAX_SAFE_INTEGER;

export function msOf(micros: number): number {
  return Math.floor(micros / 1000);
}

/** Durations are whole milliseconds. Fractions round up: what was asked is never undercut. */
export function wholeMs(ms: number): number {
  return Math.min(FOREVER, Math.max(0, Math.ceil(ms)));
}

/** The instant so many milliseconds from now. */
export function instantAfter(now: number, ms: number): number {
  return Math.min(FOREVER, now + wholeMs(ms));
}
