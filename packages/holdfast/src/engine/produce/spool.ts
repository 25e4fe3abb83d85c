/**
 * Jobs that wait on this machine for a store that is away: first in, first out, one record each, in a
 * store of their own. A record is removed only once the job is where it belongs, so a crash in
 * between delivers it twice, and its id makes the second time a duplicate.
 *
 * Two processes on one spool do no harm, only their jobs mingle: numbers that are taken are passed over.
 *
 * A job that the store refuses for good is put aside, under a name of its own: it must not keep those behind
 * it waiting, and it must not be lost either.
 */
import { BATCH_BYTES, type NewJob } from "../../core/job.ts";
import type { Records, StoredRecord } from "../../core/records.ts";

/** What is asked of a store that keeps a spool. Every `Store` fits; SQLite is what it is meant for. */
export interface SpoolStore {
  open(): Promise<void>;
  close(): Promise<void>;
  readonly records: Records;
}

export interface SpooledJob {
  readonly record: Pick<StoredRecord, "key" | "version">;
  readonly job: NewJob;
  /** When it was spooled, by this host's clock. */
  readonly at: number;
}

const WAITING = "holdfast/spool/";
const REFUSED = "holdfast/spool-refused/";
const READ_AT_ONCE = 100;
const DIGITS = 16;

export class Spool {
  readonly #store: SpoolStore;
  readonly #ids = new Set<string>();
  #next = 1;
  #opening: Promise<void> | null = null;

  constructor(store: SpoolStore) {
    this.#store = store;
  }

  /** May be called again: a failed opening is tried anew. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {});
    await this.#store.close();
  }

  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Resolves once they would survive this process. */
  async add(jobs: readonly NewJob[], at: number): Promise<void> {
    let left = [...jobs];
    while (left.length > 0) {
      const swaps = left.map((job) => ({
        key: WAITING + String(this.#next++).padStart(DIGITS, "0"),
        expect: null,
        value: JSON.stringify({ job, at }),
        ttlMs: null,
      }));
      const results = await this.#store.records.swap(swaps);
      for (const [index, { swapped }] of results.entries()) {
        if (swapped) this.#ids.add(left[index]!.id);
      }
      left = left.filter((_, index) => !results[index]!.swapped);
      // Another process writes here too: go on behind it.
      if (left.length > 0) await this.#lookThrough();
    }
  }

  /** As many as fit into one call to a store. */
  async oldest(): Promise<SpooledJob[]> {
    const firstFree = this.#next;
    const { records } = await this.#store.records.scan({ prefix: WAITING, limit: READ_AT_ONCE });
    const spooled: SpooledJob[] = [];
    let bytes = 0;
    for (const record of records) {
      bytes += record.value.length * 3;
      if (spooled.length > 0 && bytes > BATCH_BYTES) break;
      spooled.push(read(record));
    }
    // Another process has delivered what we took for waiting, if nothing was added since we asked.
    if (records.length === 0 && this.#next === firstFree) this.#ids.clear();
    return spooled;
  }

  async remove(spooled: readonly SpooledJob[]): Promise<void> {
    const swaps = spooled.map(({ record: { key, version } }) => ({
      ...{ key, expect: version, value: null, ttlMs: null },
    }));
    await this.#store.records.swap(swaps);
    for (const { job } of spooled) this.#ids.delete(job.id);
  }

  /** No store will take it: it is kept for people to look at, and out of the way. */
  async putAside({ record, job }: SpooledJob, why: string): Promise<void> {
    const value = JSON.stringify({ job, why });
    await this.#store.records.swap([
      { key: REFUSED + job.id, expect: null, value, ttlMs: null },
      { key: record.key, expect: record.version, value: null, ttlMs: null },
    ]);
    this.#ids.delete(job.id);
  }

  async #open(): Promise<void> {
    await this.#store.open();
    await this.#lookThrough();
  }

  async #lookThrough(): Promise<void> {
    for (let cursor: string | null = null; ;) {
      const request = { prefix: WAITING, limit: READ_AT_ONCE, cursor };
      const page: Awaited<ReturnType<Records["scan"]>> = await this.#store.records.scan(request);
      for (const record of page.records) {
        this.#ids.add(read(record).job.id);
        this.#next = Math.max(this.#next, Number(record.key.slice(WAITING.length)) + 1);
      }
      cursor = page.nextCursor;
      if (cursor === null) return;
    }
  }
}

function read(record: StoredRecord): SpooledJob {
  const { job, at } = JSON.parse(record.value) as { readonly job: NewJob; readonly at: number };
  return { record, job, at };
}
