/**
 * Idempotency keys. A key belongs to one job of its queue for a lifetime:
 *
 * - `kept`: as long as the job is kept, finished or not.
 * - `until-finished`: until the job finishes; a revived job takes it again if it is free.
 * - a time, from the insert: also when the job has been pruned meanwhile, and not a moment longer,
 *   even if the job still waits.
 *
 * A key is freed only by the job it belongs to: the first holder of a key that expired must not free
 * it for the second. Taking one is part of the insert (`insert-function.ts`).
 */
import type { DedupeKey, KeyLifetime } from "../../core/job.ts";
import { wholeMs } from "./clock.ts";
import { eachOf } from "./pinned.ts";
import type { Transaction } from "./transaction.ts";

/** `key_life` in the body: these, or milliseconds. */
export const KEPT = -1;
export const UNTIL_FINISHED = -2;

const FREE = `
  DELETE FROM holdfast.key k USING holdfast.job j
  WHERE j.seq = ANY ($1) AND k.q = j.q AND k.key = j.key AND k.id = j.id
    AND ($2 OR j.key_life = ${UNTIL_FINISHED})`;
/** One that has expired is nobody's any more, but still there. */
const TAKE_AGAIN = `
  INSERT INTO holdfast.key AS k (q, key, id, hash)
  SELECT j.q, j.key, j.id, j.key_hash FROM holdfast.job j
  WHERE j.seq = ANY ($1) AND j.key_life = ${UNTIL_FINISHED} ORDER BY j.q, j.key
  ON CONFLICT (q, key) DO UPDATE
  SET id = excluded.id, hash = excluded.hash, expires_at = excluded.expires_at
  WHERE k.expires_at <= $2`;
const REHASH = `
  UPDATE holdfast.key k SET hash = $2 FROM holdfast.job j
  WHERE j.seq = ANY ($1) AND k.q = j.q AND k.key = j.key AND k.id = j.id`;
const REHASH_BODY = `
  UPDATE holdfast.job SET key_hash = $2 WHERE seq = ANY ($1) AND key_life = ${UNTIL_FINISHED}`;

/** Where the key of a body `j` is, if it has one: locked, to be deleted by the next statement. */
export function keyOfBody(condition = ""): string {
  return eachOf(`SELECT k.ctid AS place FROM holdfast.key k
    WHERE k.q = j.q AND k.key = j.key AND k.id = j.id ${condition} FOR UPDATE`);
}

export function lifeOf(lifetime: DedupeKey["lifetime"]): number {
  if (lifetime === "kept") return KEPT;
  if (lifetime === "until-finished") return UNTIL_FINISHED;
  return wholeMs(lifetime.ttlMs);
}

export function lifetimeOf(life: number): KeyLifetime {
  if (life === KEPT) return "kept";
  return life === UNTIL_FINISHED ? "until-finished" : { ttlMs: life };
}

/** Jobs that finish free those keys that last until then. */
export async function freeKeysUntilFinished(
  tx: Transaction,
  seqs: readonly number[],
): Promise<void> {
  if (seqs.length > 0) await tx.rows(FREE, [seqs, false]);
}

export async function freeKeys(tx: Transaction, seqs: readonly number[]): Promise<void> {
  if (seqs.length > 0) await tx.rows(FREE, [seqs, true]);
}

/** Revived jobs take the keys back that they gave up. If another job has one by now, they run without. */
export async function takeKeysAgain(tx: Transaction, seqs: readonly number[]): Promise<void> {
  if (seqs.length > 0) await tx.rows(TAKE_AGAIN, [seqs, tx.now]);
}

/** A new payload moves the hash of keys that are still their jobs' own. */
export async function rehashKeys(
  tx: Transaction,
  seqs: readonly number[],
  hash: string,
): Promise<void> {
  if (seqs.length === 0) return;
  await tx.rows(REHASH, [seqs, hash]);
  await tx.rows(REHASH_BODY, [seqs, hash]);
}
