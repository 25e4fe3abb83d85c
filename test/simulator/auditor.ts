/**
 * Looks into the store behind everybody's back and holds what it finds against the book: always
 * where a verb does not say what it did (spawned jobs, entries, prunes), by samples everywhere else,
 * and at everything when asked.
 */
import type { StoredEntry } from "../../packages/holdfast/src/core/ledger.ts";
import type { Retention, Settlement, Store } from "../../packages/holdfast/src/core/store.ts";
import { bury } from "./facts/apply-end.ts";
import type { JobFacts } from "./facts/job-facts.ts";
import type { Draw } from "./draw.ts";
import type { Judge } from "./judge.ts";

const LOOK_AT = 100;
const READ_AT_ONCE = 200;

export interface AuditorOptions {
  readonly store: () => Store;
  readonly judge: Judge;
  readonly draw: Draw;
  /** How much of what verbs touched is looked at. */
  readonly sample: number;
}

export class Auditor {
  readonly #options: AuditorOptions;

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  async touched(ids: readonly string[]): Promise<void> {
    const { draw, sample } = this.#options;
    const chosen = ids.filter(() => draw.chance(sample));
    if (chosen.length > 0) await this.#look(chosen);
  }

  async settled(settlements: readonly Settlement[]): Promise<void> {
    const { judge, store } = this.#options;
    const children = settlements.flatMap(({ spawn = [] }) => spawn.map(({ id }) => id));
    await this.#look(children);
    const entries = settlements.flatMap((one) => (one.entries ?? []).map(({ id }) => id));
    if (entries.length > 0) {
      const page = await store().ledger.read({ ids: entries }, { limit: READ_AT_ONCE });
      const found = new Set(page.entries.map(({ id }) => id));
      judge.tell((watcher) => watcher.entriesLooked?.(entries, found));
    }
    await this.touched(settlements.map(({ id }) => id));
  }

  /** A prune says how many, not which: the oldest finished jobs are asked for one by one. */
  async pruned(count: number, policies: readonly Retention[]): Promise<void> {
    const { judge } = this.#options;
    const gone: JobFacts[] = [];
    if (count > 0) {
      for (const queue of judge.book.queues.values()) {
        for (const finished of Object.values(queue.finished)) {
          gone.push(...(await this.#goneOf([...finished])));
        }
      }
    }
    judge.tell((watcher) => watcher.pruned?.(gone, count, policies));
    for (const job of gone) bury(judge.book, job);
    await this.#count();
  }

  /** Every job there is, the counts, the whole ledger. */
  async everything(): Promise<void> {
    const { judge, store } = this.#options;
    const ids = [...judge.book.jobs.keys()];
    for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
      await this.#look(ids.slice(from, from + READ_AT_ONCE));
    }
    for (let cursor: string | null = null; ;) {
      const page = await store().find({}, { limit: READ_AT_ONCE, cursor });
      for (const job of page.jobs) judge.tell((watcher) => watcher.looked?.(job.id, job));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    await this.#count();
    await this.#wholeLedger();
  }

  async #count(): Promise<void> {
    const { judge, store } = this.#options;
    const counts = await store().count();
    judge.begin();
    judge.tell((watcher) => watcher.counted?.(counts));
  }

  async #wholeLedger(): Promise<void> {
    const { judge, store } = this.#options;
    const found = new Set<string>();
    const entries: StoredEntry[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await store().ledger.read({}, { limit: READ_AT_ONCE, cursor });
      for (const { id } of page.entries) found.add(id);
      entries.push(...page.entries);
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    // What came into the outbox must have been carried to the ledger by now.
    for (const id of judge.book.promisedEntries) judge.book.entries.add(id);
    const all = [...new Set([...found, ...judge.book.entries])];
    judge.tell((watcher) => watcher.entriesLooked?.(all, found));
    judge.tell((watcher) => watcher.ledgerLooked?.(entries));
  }

  async #look(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { judge, store } = this.#options;
    const found = await store().get(ids.map((id) => ({ id })));
    ids.forEach((id, at) => judge.tell((watcher) => watcher.looked?.(id, found[at]!)));
  }

  /** Oldest first, so the rest is still there once a whole look finds nobody gone. */
  async #goneOf(finished: readonly JobFacts[]): Promise<JobFacts[]> {
    const gone: JobFacts[] = [];
    for (let from = 0; from < finished.length; from += LOOK_AT) {
      const some = finished.slice(from, from + LOOK_AT);
      const found = await this.#options.store().get(some.map(({ id, queue }) => ({ id, queue })));
      const missing = some.filter((_, at) => typeof found[at] !== "object" || found[at] === null);
      gone.push(...missing);
      if (missing.length === 0) break;
    }
    return gone;
  }
}
