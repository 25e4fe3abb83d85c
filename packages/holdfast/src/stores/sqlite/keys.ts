/**
 * Idempotency keys. A key belongs to one job of its queue for a lifetime:
 *
 * - `kept`: as long as the job is kept, finished or not.
 * - `until-finished`: until the job finishes; a revived job takes it again if it is free.
 * - a time, from the insert: also when the job has been pruned meanwhile, and not a moment longer,
 *   even if the job still waits.
 *
 * A key is freed only by the job it belongs to: the first holder of a key that expired must not free
 * it for the second.
 */
import type { DedupeKey, KeyLifetime } from "../../core/job.ts";
import { instantAfter } from "./clock.ts";
import type { Queue } from "./queue-book.ts";
import type { Transaction } from "./transaction.ts";

/** `key_life` in the body: these, or milliseconds. */
export const KEPT = -1;
export const UNTIL_FINISHED = -2;

const HOLDER = "SELECT id, hash, expires_at FROM holdfast_key WHERE q = ? AND key = ?";
const TAKE = `
  INSERT INTO holdfast_key (q, key, id, hash, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (q, key) DO UPDATE
  SET id = excluded.id, hash = excluded.hash, expires_at = excluded.expires_at`;
const FREE = "DELETE FROM holdfast_key WHERE q = ? AND key = ? AND id = ?";
const REHASH = "UPDATE holdfast_key SET hash = ? WHERE q = ? AND key = ? AND id = ?";

export interface KeyHolder {
  readonly id: string;
  readonly hash: string;
  readonly expiresAt: number | null;
}

export interface OwnedKey {
  readonly key: string;
  readonly id: string;
}

export function lifeOf(lifetime: DedupeKey["lifetime"]): number {
  if (lifetime === "kept") return KEPT;
  if (lifetime === "until-finished") return UNTIL_FINISHED;
  return Math.max(0, Math.ceil(lifetime.ttlMs));
}

export function lifetimeOf(life: number): KeyLifetime {
  if (life === KEPT) return "kept";
  return life === UNTIL_FINISHED ? "until-finished" : { ttlMs: life };
}

/** When a key of this life expires; null if it does not by itself. */
export function expiryOf(life: number, createdAt: number): number | null {
  return life < 0 ? null : instantAfter(createdAt, life);
}

/** Whose key it is now, if anybody's. */
export function keyHolder(tx: Transaction, queue: Queue, key: string): KeyHolder | null {
  const row = tx.db.rows<[string, string, number | null]>(HOLDER).get(queue.q, key);
  if (row === undefined) return null;
  const [id, hash, expiresAt] = row;
  return expiresAt === null || expiresAt > tx.now ? { id, hash, expiresAt } : null;
}

/** The caller has made sure that nobody else has it. */
export function takeKey(
  tx: Transaction,
  queue: Queue,
  key: OwnedKey & { readonly hash: string; readonly expiresAt: number | null },
): void {
  tx.db.run(TAKE, queue.q, key.key, key.id, key.hash, key.expiresAt);
}

export function freeKey(tx: Transaction, queue: Queue, { key, id }: OwnedKey): void {
  tx.db.run(FREE, queue.q, key, id);
}

/** A new payload moves the hash of a key that is still the job's own. */
export function rehashKey(tx: Transaction, queue: Queue, key: OwnedKey & { hash: string }): void {
  tx.db.run(REHASH, key.hash, queue.q, key.key, key.id);
}
