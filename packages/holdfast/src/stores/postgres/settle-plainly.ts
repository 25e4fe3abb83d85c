/**
 * The short way of a settle, for those that can take it: a success that says nothing more, many in one
 * call inside the database (`settle-function.ts`). What it leaves alone takes the long way
 * (`settle.ts`).
 */
import type { Settlement, SettleResult } from "../../core/store.ts";
import { wholeMs, type Clock } from "./clock.ts";
import { seqsOf } from "./held-lease.ts";
import type { Asker } from "./queue-book.ts";
import { list, number, numbers } from "./row-values.ts";
import { isEmpty } from "./job-details.ts";

const SETTLE_PLAIN = "SELECT * FROM holdfast.settle_plain($1, $2, $3, $4, $5, $6, $7, $8)";

export interface PlainSettled {
  /** The ids of those that are settled. */
  readonly settled: readonly string[];
  /** Those that take the long way. */
  readonly rest: readonly Settlement[];
  /** Queues that may have got room under a cap. */
  readonly woken: readonly number[];
  /** In the order of the call, once the rest has its results too. */
  resultsWith(results: readonly SettleResult[]): SettleResult[];
}

interface Plain {
  readonly settlement: Settlement;
  readonly index: number;
  readonly seq: number;
}

export async function settlePlainly(
  db: Asker,
  settlements: readonly Settlement[],
  how: { readonly clock: Clock; readonly remembersMs: number; readonly isLate: boolean },
): Promise<PlainSettled> {
  const plain = plainOf(settlements, await seqsOf(db, settlements));
  if (plain.length === 0) return answer(settlements, { settled: [], woken: [] });
  const [row] = await db.rows(SETTLE_PLAIN, [
    ...[how.clock.seen, how.isLate, wholeMs(how.remembersMs)],
    // Made here: the driver looks at every number as if it might need quotes.
    `{${plain.map(({ seq }) => seq).join()}}`,
    `{${plain.map(({ settlement }) => settlement.fence).join()}}`,
    sparse(plain, ({ outcome }) => ("result" in outcome ? outcome.result : null)),
    sparse(plain, ({ outcome }) => ("result" in outcome && outcome.resultDropped) || null),
    sparse(plain, ({ discard }) => discard === true || null),
  ]);
  if (row === undefined) throw new Error("settle_plain answered nothing");
  how.clock.saw(number(row, 0));
  const woken = numbers(row, 2);
  if (list(row, 1) === null) return answer(settlements, { settled: plain, woken });
  const settled = numbers(row, 1).flatMap((ord) => plain[ord - 1] ?? []);
  return answer(settlements, { settled, woken });
}

/** Those that can take the short way, in the order of their numbers: that is the order of locks. */
function plainOf(settlements: readonly Settlement[], seqs: readonly number[]): Plain[] {
  const plain: Plain[] = [];
  const seen = new Set<number>();
  let isSorted = true;
  let last = 0;
  for (const [index, settlement] of settlements.entries()) {
    // Behind one that spawns with a key, the order in which keys are freed and taken matters.
    if (spawnsWithKey(settlement)) break;
    const seq = seqs[index] ?? 0;
    // The second of a job may be the repeat of the first, whatever that was.
    if (seq === 0 || seen.has(seq)) continue;
    seen.add(seq);
    if (!isPlain(settlement)) continue;
    isSorted &&= seq > last;
    last = seq;
    plain.push({ settlement, index, seq });
  }
  return isSorted ? plain : plain.sort((a, b) => a.seq - b.seq);
}

function answer(
  settlements: readonly Settlement[],
  { settled, woken }: { readonly settled: readonly Plain[]; readonly woken: readonly number[] },
): PlainSettled {
  const indexes = new Set(settled.map(({ index }) => index));
  const isAll = indexes.size === settlements.length;
  return {
    settled: settled.map(({ settlement }) => settlement.id),
    rest: isAll ? [] : settlements.filter((_, index) => !indexes.has(index)),
    woken,
    resultsWith(results) {
      let next = 0;
      return settlements.map((_, index) =>
        indexes.has(index) ? "settled" : (results[next++] ?? "lost"),
      );
    },
  };
}

/** A column in which nobody has anything is not sent. */
function sparse<T extends string | boolean>(
  plain: readonly Plain[],
  of: (settlement: Settlement) => T | null,
): (T | null)[] | null {
  const column = plain.map(({ settlement }) => of(settlement));
  return column.some((value) => value !== null) ? column : null;
}

function isPlain({ outcome, updates, spawn, entries, outbox }: Settlement): boolean {
  return (
    outcome.kind === "succeed" &&
    (updates === undefined || isEmpty(updates)) &&
    isNone(spawn) &&
    isNone(entries) &&
    isNone(outbox)
  );
}

export function spawnsWithKey({ spawn }: Settlement): boolean {
  return spawn !== undefined && spawn.some(({ dedupe }) => dedupe !== null);
}

function isNone(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}
