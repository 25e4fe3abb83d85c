/** Lets due jobs of a queue into their lines outside a lease, for those who look at lines and counts. */
import type { Asker } from "./queue-book.ts";

const MOVE_DUE = `
  WITH moved AS (SELECT holdfast.move_due($1, $2, $3) AS n)
  SELECT holdfast.count_up(false, ARRAY[$1::integer], ARRAY[n::bigint], ARRAY[-n::bigint],
    NULL, NULL, NULL) FROM moved WHERE n > 0`;

/** At most so many: a burst must not stall whoever looks. */
export async function moveDue(
  db: Asker,
  q: number,
  { now, atMost }: { readonly now: number; readonly atMost: number },
): Promise<void> {
  await db.rows(MOVE_DUE, [q, now, atMost]);
}
