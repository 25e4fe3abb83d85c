/**
 * Records: small keyed, versioned documents changed by compare-and-set. Gates, breakers, execution
 * locks, budgets, schedules and settings are pure functions over them.
 */

export interface StoredRecord {
  readonly key: string;
  /** Grows with every change, also across deletion and re-creation of the key. */
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  readonly expiresAt: number | null;
}

export interface Swap {
  readonly key: string;
  /** The version the caller read; null: there must be no (unexpired) record of this key. */
  readonly expect: number | null;
  /** JSON text; null deletes. */
  readonly value: string | null;
  /** From now, by the store's clock; null: for ever. */
  readonly ttlMs: number | null;
}

/** Each item stands alone: one that lost its race does not hinder the others. */
export type SwapResult =
  | { readonly swapped: true; readonly version: number | null }
  | { readonly swapped: false; readonly current: StoredRecord | null };

export interface Records {
  read(keys: readonly string[]): Promise<(StoredRecord | null)[]>;
  /** `version` is null after a deletion. Items of one call are done in order. */
  swap(swaps: readonly Swap[]): Promise<SwapResult[]>;
  /** In the order of their keys (by code unit), those that start with `prefix`. */
  scan(request: {
    readonly prefix: string;
    readonly limit: number;
    readonly cursor?: string | null;
  }): Promise<{ readonly records: readonly StoredRecord[]; readonly nextCursor: string | null }>;
}
