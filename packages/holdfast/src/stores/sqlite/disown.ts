/**
 * Disowning: a worker that lost the reply of a lease says what it has, and everything else under its id
 * goes back. What it said is remembered, because a lease that was on its way may still arrive: `reap` asks
 * here before it charges anybody.
 *
 * Rare, so it walks the table of leases, which holds what runs now and nothing else.
 */
import type { DisownRequest, LeaseRef } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { LEASED_COLUMNS, leaseOf, type HeldLease, type LeasedRow } from "./held-lease.ts";
import { takeBack } from "./take-back.ts";
import type { Transaction } from "./transaction.ts";

/** At least as long as a call may be on its way. */
const REMEMBERED_MS = 3_600_000;

const HELD_BY = `
  SELECT j.id, j.grp, j.created_at, ${LEASED_COLUMNS}
  FROM holdfast_leased p CROSS JOIN holdfast_job j ON j.seq = p.seq WHERE p.w = ? ORDER BY p.seq`;
const REMEMBER = `
  INSERT INTO holdfast_disowned (w, forget_at, kept) VALUES (?, ?, ?)
  ON CONFLICT (w) DO UPDATE SET forget_at = excluded.forget_at, kept = excluded.kept`;
const KEPT_BY = "SELECT kept FROM holdfast_disowned WHERE w = ? AND forget_at > ?";

export function disown(tx: Transaction, { worker, except }: DisownRequest): number {
  const w = tx.workers.numberOf(worker);
  const kept = except.map(nameOf);
  tx.db.run(REMEMBER, w, instantAfter(tx.now, REMEMBERED_MS), JSON.stringify(kept));
  const isKept = new Set(kept);
  let disowned = 0;
  type Row = [id: string, group: string, createdAt: number, ...LeasedRow];
  for (const [id, group, createdAt, ...row] of tx.db.rows<Row>(HELD_BY).all(w)) {
    const lease = leaseOf(row);
    if (isKept.has(nameOf({ id, fence: lease.fence }))) continue;
    takeBack(tx, lease, { id, group, createdAt, isCharged: false });
    disowned++;
  }
  return disowned;
}

/** What workers have disowned, asked about leases that ran out: one small read for each worker. */
export class Disowned {
  readonly #tx: Transaction;
  /** By the number of the worker. Null: it has disowned nothing. */
  readonly #kept = new Map<number, ReadonlySet<string> | null>();

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  has(lease: HeldLease, id: string): boolean {
    const kept = this.#keptBy(lease.w);
    return kept !== null && !kept.has(nameOf({ id, fence: lease.fence }));
  }

  #keptBy(w: number): ReadonlySet<string> | null {
    let kept = this.#kept.get(w);
    if (kept === undefined) {
      const text = this.#tx.db.value(KEPT_BY, w, this.#tx.now) as string | undefined;
      kept = text === undefined ? null : new Set(JSON.parse(text) as string[]);
      this.#kept.set(w, kept);
    }
    return kept;
  }
}

/** Fences are not unique between jobs, and a job has many in its life. */
function nameOf({ id, fence }: Pick<LeaseRef, "id" | "fence">): string {
  return `${id}:${fence}`;
}
