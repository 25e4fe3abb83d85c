/** Where the ledger's entries are kept: by id, and in the order in which they are read. */
import type { LedgerEntry, StoredEntry } from "../../core/ledger.ts";
import { OrderedList } from "./ordered-list.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface MemoryEntry extends Mutable<StoredEntry> {
  /** The order of insertion: decides between entries of one instant. */
  readonly seq: number;
  deleted: boolean;
}

export class LedgerShelf {
  readonly byId = new Map<string, MemoryEntry>();
  /** Oldest first. */
  readonly order = new OrderedList<MemoryEntry>((a, b) =>
    a.at !== b.at ? a.at < b.at : a.seq < b.seq,
  );
  #lastSeq = 0;

  append(entries: readonly LedgerEntry[], now: number): ("added" | "duplicate")[] {
    return entries.map((entry) => {
      if (this.byId.has(entry.id)) return "duplicate";
      const { id, kind, jobId, type, queue, group, category } = entry;
      const { fingerprint = null, company = null, isFinal = null, state, body } = entry;
      const stored: MemoryEntry = {
        ...{ id, kind, jobId, type, queue, group, category },
        ...{ fingerprint, company, isFinal, state, body },
        at: entry.at ?? now,
        amendedAt: null,
        seq: ++this.#lastSeq,
        deleted: false,
      };
      this.byId.set(id, stored);
      this.order.add(stored);
      return "added";
    });
  }

  delete(entry: MemoryEntry): void {
    this.byId.delete(entry.id);
    this.order.delete(entry);
  }
}
