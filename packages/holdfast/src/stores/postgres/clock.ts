/**
 * The store's clock is the database's, in microseconds because fences and record versions are. Every
 * answer brings it along, and every call says how late it was seen to be: the database then takes the
 * later of the two. So the clock of a process never runs backwards, also when a failover leads to a
 * server whose clock is behind.
 *
 * Between processes the mark is carried by the row `holdfast.head`, which reads at open and reap and
 * is written once a second. A row that every transaction writes would be exact, and would let one of
 * them write at a time.
 */
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
`;

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
