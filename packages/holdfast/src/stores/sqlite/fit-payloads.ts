/**
 * Cuts what was read of some lines to what a call may carry. Jobs are counted in the order of their turns,
 * so that a bound in bytes takes as much from one line as from another.
 *
 * A long payload is not read with its row (see `IS_LARGE`) but here, one by one, while there is room for
 * it. So nothing is read for long that is not handed out, but for the one that did not fit.
 */
import type { ByteBudget } from "./byte-budget.ts";
import type { Line } from "./line-book.ts";
import { PAYLOAD, type ReadyRow } from "./ready-row.ts";
import type { Transaction } from "./transaction.ts";

const PAYLOAD_OF = "SELECT payload FROM holdfast_job WHERE seq = ?";

/** Rows of lines, in the same order. Shortens them; answers which line was cut first. */
export function fitPayloads(
  tx: Transaction,
  lines: readonly { readonly line: Line }[],
  { found, budget }: { readonly found: readonly ReadyRow[][]; readonly budget: ByteBudget },
): number | null {
  let length = 0;
  let isAllRead = true;
  for (const rows of found) {
    for (const row of rows) {
      const payload = row[PAYLOAD];
      if (payload === null) isAllRead = false;
      else length += payload.length;
    }
  }
  // Nearly always: all payloads are short, and all of them fit.
  if (isAllRead && budget.takeAll(length)) return null;
  const fitting = found.map(() => 0);
  const cut = countFitting(tx, lines, { found, budget, fitting });
  if (cut !== null) for (const [index, rows] of found.entries()) rows.length = fitting[index] ?? 0;
  return cut;
}

function countFitting(
  tx: Transaction,
  lines: readonly { readonly line: Line }[],
  how: {
    readonly found: readonly ReadyRow[][];
    readonly budget: ByteBudget;
    readonly fitting: number[];
  },
): number | null {
  const { found, budget, fitting } = how;
  for (let round = 1, isDone = false; !isDone; round++) {
    isDone = true;
    for (const [index, rows] of found.entries()) {
      const end = Math.min(rows.length, round * (lines[index]?.line.weight ?? 1));
      for (let next = fitting[index] ?? 0; next < end; next++) {
        const row = rows[next] as ReadyRow;
        const payload = row[PAYLOAD] ?? String(tx.db.value(PAYLOAD_OF, row[0]));
        if (!budget.take(payload.length)) return index;
        row[PAYLOAD] = payload;
        fitting[index] = next + 1;
      }
      if (end < rows.length) isDone = false;
    }
  }
  return null;
}
