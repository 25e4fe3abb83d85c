/** Where records are kept: by key, in the order of keys, and by when they expire. */
import type { StoredRecord } from "../../core/records.ts";
import { Heap } from "./heap.ts";

export interface MemoryRecord extends StoredRecord {
  slot: number;
}

export class RecordShelf {
  readonly #byKey = new Map<string, MemoryRecord>();
  readonly #expiring = new Heap<MemoryRecord>((a, b) => (a.expiresAt ?? 0) < (b.expiresAt ?? 0));
  /** Sorted again only after a key came or went: most writes change a record that is there. */
  #keys: string[] | null = null;
  /**
   * The last version given to any record. One number for all of them is enough to make each grow
   * across deletion and re-creation, with nothing to remember of the deleted.
   */
  lastVersion = 0;

  /** An expired record is absent, swept or not. */
  get(key: string, now: number): MemoryRecord | null {
    const record = this.#byKey.get(key);
    if (record === undefined) return null;
    return record.expiresAt === null || record.expiresAt > now ? record : null;
  }

  set(record: StoredRecord): void {
    this.#forgetExpiry(record.key);
    if (!this.#byKey.has(record.key)) this.#keys = null;
    const stored = { ...record, slot: 0 };
    this.#byKey.set(record.key, stored);
    if (record.expiresAt !== null) this.#expiring.push(stored);
  }

  delete(key: string): void {
    this.#forgetExpiry(key);
    if (this.#byKey.delete(key)) this.#keys = null;
  }

  /** By code unit, which is how `<` and `sort` compare. */
  sortedKeys(): readonly string[] {
    this.#keys ??= [...this.#byKey.keys()].sort();
    return this.#keys;
  }

  sweep(now: number): void {
    for (let next = this.#expiring.peek(); next !== undefined; next = this.#expiring.peek()) {
      if ((next.expiresAt ?? 0) > now) return;
      this.delete(next.key);
    }
  }

  #forgetExpiry(key: string): void {
    const record = this.#byKey.get(key);
    if (record !== undefined && record.expiresAt !== null) this.#expiring.remove(record);
  }
}
