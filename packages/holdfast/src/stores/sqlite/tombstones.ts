/** What is remembered of a deleted job: that there was one, and its last settle. */
import { freeKey, KEPT } from "./keys.ts";
import type { Queue } from "./queue-book.ts";
import { HAS_KEY, HAS_PAST } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

const REMEMBERED = "SELECT settled_fence, forget_at FROM holdfast_gone WHERE id = ?";
const REMEMBER = `
  INSERT INTO holdfast_gone (id, settled_fence, forget_at) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE
  SET settled_fence = excluded.settled_fence, forget_at = excluded.forget_at`;
const DROP = "DELETE FROM holdfast_gone WHERE id = ?";
const OWN_KEY = `
  SELECT j.key, j.key_life, k.expires_at FROM holdfast_job j
  CROSS JOIN holdfast_key k ON k.q = j.q AND k.key = j.key AND k.id = j.id WHERE j.seq = ?`;
const DROP_JOB = "DELETE FROM holdfast_job WHERE seq = ?";
const DROP_PAST = [
  "DELETE FROM holdfast_details WHERE seq = ?",
  "DELETE FROM holdfast_step WHERE seq = ?",
  "DELETE FROM holdfast_log WHERE seq = ?",
  "DELETE FROM holdfast_attempt WHERE seq = ?",
];

/** Null: nothing is remembered of a job of this id. */
export function settledFenceOfGone(
  db: Transaction["db"],
  { id, now }: { readonly id: string; readonly now: number },
): number | null {
  const row = db.rows<[number, number]>(REMEMBERED).get(id);
  return row !== undefined && row[1] > now ? row[0] : null;
}

export function isRemembered(tx: Transaction, id: string): boolean {
  return tx.mayBeGone(id) && settledFenceOfGone(tx.db, { id, now: tx.now }) !== null;
}

export function dropTombstone(tx: Transaction, id: string): void {
  tx.db.run(DROP, id);
}

/**
 * Deletes body and past of a job that stands nowhere any more, and remembers its id and its last
 * settle. A key with a time of its own stays, and then the id is remembered as long as the key: a
 * duplicate is told that id.
 */
export function bury(
  tx: Transaction,
  queue: Queue,
  job: {
    readonly seq: number;
    readonly id: string;
    readonly settledFence: number;
    readonly flags: number;
  },
): void {
  let forgetAt = tx.now + tx.remembersMs;
  if ((job.flags & HAS_KEY) !== 0) {
    const own = tx.db.rows<[string, number, number | null]>(OWN_KEY).get(job.seq);
    if (own !== undefined) {
      const [key, life, expiresAt] = own;
      if (life === KEPT || expiresAt === null) freeKey(tx, queue, { key, id: job.id });
      else forgetAt = Math.max(forgetAt, expiresAt);
    }
  }
  if ((job.flags & HAS_PAST) !== 0) dropPast(tx, job.seq);
  tx.db.silent(DROP_JOB).get(job.seq);
  tx.db.silent(REMEMBER).get(job.id, job.settledFence, forgetAt);
  tx.noteGone(job.id);
}

function dropPast(tx: Transaction, seq: number): void {
  for (const sql of DROP_PAST) tx.db.run(sql, seq);
}
