import { clockUs } from "./clock.ts";

/**
 * Settings for the functions on the hot path. Their plans are made once per connection, with no look
 * at statistics, and every table is reached through an index: a plan that was made while a table was
 * small, or statistics that were taken while it was empty, must not turn an index walk into a scan of
 * a million rows. Only what joins two lists, of a batch each, would be faster without.
 *
 * A scan that cannot be avoided is then priced beyond reason, and prices like that call the just in
 * time compiler, which takes half a second to make a statement of ten rows faster. So it is off.
 */
export const PINNED = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
SET enable_material = off SET jit = off`;

/**
 * For each row before it, what one look finds. A plain join may be turned round: after a vacuum that
 * has seen a table empty, the planner would walk that table, with all its dead rows, and look through
 * the whole batch for each.
 */
export function eachOf(look: string): string {
  return `CROSS JOIN LATERAL (${look} OFFSET 0)`;
}

/** The body of a row with a `seq`. */
export function bodyOf(row: string): string {
  return eachOf(`SELECT * FROM holdfast.job x WHERE x.seq = ${row}.seq`);
}

/** `v_us` and `v_now` of every function: the database's clock, never behind what was seen before. */
export const CLOCK_US = clockUs("p_seen");
