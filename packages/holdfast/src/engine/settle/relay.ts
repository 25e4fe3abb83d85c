/**
 * Carries what waits in the outbox: spawned jobs to their queues, entries to the ledger. Cleared only
 * once carried: a crash in between carries it twice, which changes nothing.
 *
 * With a ledger elsewhere the two go separate ways, each at its own pace: a ledger that is away, or
 * takes its time to say so, must not keep a spawned job waiting.
 */
import type { LedgerEntry } from "../../core/ledger.ts";
import type { OutboxItem } from "../../core/store.ts";
import { WAITING_ENTRIES, type LedgerWriter } from "./ledger-writer.ts";
import type { StoreLink } from "../store-link.ts";

const RELAY_STEP = 100;

export interface RelayOptions {
  readonly link: StoreLink;
  readonly ledgerWriter: LedgerWriter;
  readonly isStopped: () => boolean;
}

export class Relay {
  readonly #options: RelayOptions;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** What belongs into this very store: jobs, and entries unless the ledger is elsewhere. */
  async relayLocal(): Promise<void> {
    const isSplit = this.#options.ledgerWriter.home === "elsewhere";
    for (let isMore = true; isMore && !this.#options.isStopped();) {
      const items = await this.#read();
      const ours = items.filter(({ kind }) => kind === "jobs" || !isSplit);
      const carried: OutboxItem[] = [];
      for (const item of ours) if (await this.#carry(item)) carried.push(item);
      await this.#clear(carried);
      isMore = items.length === RELAY_STEP && carried.length > 0;
      // Jobs may stand behind a page full of entries that cannot leave.
      if (items.length === RELAY_STEP && ours.length === 0) isMore = await this.#makeWay(items);
    }
  }

  /** False if it must wait: a key of one of its jobs is being decided in somebody's transaction. */
  async #carry(item: OutboxItem): Promise<boolean> {
    const { link } = this.#options;
    if (item.kind === "entries") {
      await link.call((store) => store.ledger.append(item.entries));
      return true;
    }
    const results = await link.call((store) => store.insert(item.jobs, { evenIfFull: true }));
    return results.every(({ outcome }) => outcome !== "busy");
  }

  /** What belongs to the ledger elsewhere. */
  async relayToLedger(): Promise<void> {
    const { ledgerWriter, isStopped } = this.#options;
    for (let isMore = true; isMore && !isStopped();) {
      const items = await this.#read();
      const entries = entriesOf(items);
      await ledgerWriter.append(entries);
      await this.#clear(items.filter(({ kind }) => kind === "entries"));
      isMore = items.length === RELAY_STEP && entries.length > 0;
    }
    for (let isMore = true; isMore && !isStopped();) isMore = await this.#carryWaiting();
  }

  /** Entries that did not come with a settle: an operator's actions, and those that made way. */
  async #carryWaiting(): Promise<boolean> {
    const { link, ledgerWriter } = this.#options;
    const { records, nextCursor } = await link.call((store) =>
      store.records.scan({ prefix: WAITING_ENTRIES, limit: RELAY_STEP }),
    );
    if (records.length === 0) return false;
    await ledgerWriter.append(records.map(({ value }) => JSON.parse(value) as LedgerEntry));
    const cleared = records.map(({ key, version }) => ({
      key,
      expect: version,
      value: null,
      ttlMs: null,
    }));
    await link.call((store) => store.records.swap(cleared));
    return nextCursor !== null;
  }

  /** Only where spawned jobs pass through the outbox at all. */
  async #makeWay(items: readonly OutboxItem[]): Promise<boolean> {
    const { link, ledgerWriter } = this.#options;
    if (link.store.info().spawnsElsewhere === "atomic") return false;
    await link.call(() => ledgerWriter.wait(entriesOf(items)));
    await this.#clear(items);
    return true;
  }

  #read(): Promise<OutboxItem[]> {
    return this.#options.link.call((store) => store.outbox.read(RELAY_STEP));
  }

  async #clear(items: readonly OutboxItem[]): Promise<void> {
    if (items.length === 0) return;
    const ids = items.map(({ id }) => id);
    await this.#options.link.call((store) => store.outbox.clear(ids));
  }
}

function entriesOf(items: readonly OutboxItem[]): LedgerEntry[] {
  return items.flatMap((item) => (item.kind === "entries" ? item.entries : []));
}
