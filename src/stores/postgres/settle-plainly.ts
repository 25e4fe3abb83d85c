/**
 * The short way of a settle, for those that can take it: a success that says nothing more, many in one
 * call inside the database (`settle-function.ts`). What it leaves alone takes the long way
 * (`settle.ts`).
 */
import type { Settlement } from "../../core/store.ts";
import { wholeMs, type Clock } from "./clock.ts";
import { seqsOf } from "./held-lease.ts";
import type { Asker } from "./queue-book.ts";
import { number, numbers } from "./row-values.ts";
import { isEmpty } from "./trail.ts";

const SETTLE_PLAIN = "SELECT * FROM holdfast.settle_plain($1, $2, $3, $4, $5, $6, $7, $8)";

export interface PlainSettled {
  /** Which of the items are settled; the others take the long way. */
  readonly settled: ReadonlySet<Settlement>;
  /** Queues that may have got room under a cap. */
  readonly woken: readonly number[];
}

export async function settlePlainly(
  db: Asker,
  settlements: readonly Settlement[],
  how: { readonly clock: Clock; readonly remembersMs: number; readonly isLate: boolean },
): Promise<PlainSettled> {
  const seqs = await seqsOf(db, settlements);
  const seen = new Set<string>();
  // Behind one that spawns with a key, the order in which keys are freed and taken matters.
  const spawnsAt = settlements.findIndex(spawnsWithKey);
  const plain = settlements
    .map((settlement, index) => ({ settlement, index, seq: seqs[index] ?? 0 }))
    .filter(({ settlement, index, seq }) => {
      // The second of an attempt is the repeat of the first, whatever that was.
      const attempt = `${seq}.${settlement.fence}`;
      if (seq === 0 || seen.has(attempt)) return false;
      seen.add(attempt);
      return isPlain(settlement) && (spawnsAt === -1 || index < spawnsAt);
    })
    .sort((a, b) => a.seq - b.seq);
  if (plain.length === 0) return { settled: new Set(), woken: [] };
  const [row] = await db.rows(SETTLE_PLAIN, [
    ...[how.clock.seen, how.isLate, wholeMs(how.remembersMs)],
    plain.map(({ seq }) => seq),
    plain.map(({ settlement }) => settlement.fence),
    plain.map(({ settlement: { outcome } }) => ("result" in outcome ? outcome.result : null)),
    plain.map(({ settlement: { outcome } }) => "result" in outcome && outcome.resultDropped),
    plain.map(({ settlement }) => settlement.discard === true),
  ]);
  if (row === undefined) throw new Error("settle_plain answered nothing");
  how.clock.saw(number(row, 0));
  const settled = new Set(numbers(row, 1).flatMap((ord) => plain[ord - 1]?.settlement ?? []));
  return { settled, woken: numbers(row, 2) };
}

function isPlain({ outcome, riders, spawn, entries, outbox }: Settlement): boolean {
  return (
    outcome.kind === "succeed" &&
    isEmpty(riders) &&
    isNone(spawn) &&
    isNone(entries) &&
    isNone(outbox)
  );
}

export function spawnsWithKey({ spawn = [] }: Settlement): boolean {
  return spawn.some(({ dedupe }) => dedupe !== null);
}

function isNone(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}
