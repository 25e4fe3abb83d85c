/**
 * Carries what waits in the outbox: spawned jobs to their queues, entries to the ledger. Cleared only
 * once carried: a crash in between carries it twice, which changes nothing.
 *
 * With a ledger elsewhere the two go separate ways, each at its own pace: a ledger that is away, or
 * takes its time to say so, must not keep a spawned job waiting.
 */
import { WAITING_ENTRIES, type LedgerEntry } from "../../core/ledger.ts";
import type { OutboxItem } from "../../core/store.ts";
import type { LedgerWriter } from "./ledger-writer.ts";
import type { Chore } from "../extension.ts";
import type { WatchedStore } from "../watched-store.ts";

export const RELAY = "relay";
export const RELAY_TO_LEDGER = "relay to the ledger";
const RELAY_STEP = 100;
const RELAY_EVERY_MS = 1_000;
const IDLE_MS = 5_000;
const RARELY_MS = 60_000;

export interface RelayOptions {
  readonly watched: WatchedStore;
  readonly ledgerWriter: LedgerWriter;
}

type IsStopped = () => boolean;

/**
 * Every second while there is something to relay, less often while there is not: who leaves something in
 * the outbox says so. Where nothing is ever relayed, a rare look finds what another version left.
 */
export function relayChores(options: RelayOptions): readonly Chore[] {
  const relay = new Relay(options);
  const { watched, ledgerWriter } = options;
  const chore = (
    name: string,
    carry: (isStopped: IsStopped) => Promise<number>,
    more: { readonly runsIn?: "everywhere"; readonly isRare: () => boolean },
  ): Chore => {
    let waitMs = RELAY_EVERY_MS;
    return {
      ...{ name, everyMs: RELAY_EVERY_MS, ...(more.runsIn && { runsIn: more.runsIn }) },
      async run({ isStopped }) {
        const carried = await carry(isStopped);
        if (more.isRare()) return RARELY_MS;
        waitMs = carried > 0 ? RELAY_EVERY_MS : Math.min(2 * waitMs, IDLE_MS);
        return waitMs;
      },
    };
  };
  const local = chore(RELAY, (isStopped) => relay.relayLocal(isStopped), {
    isRare: () => watched.store.info().spawnsElsewhere === "atomic",
  });
  if (ledgerWriter.home !== "elsewhere") return [local];
  const away = chore(RELAY_TO_LEDGER, (isStopped) => relay.relayToLedger(isStopped), {
    ...{ runsIn: "everywhere", isRare: () => false },
  });
  return [local, away];
}

export class Relay {
  readonly #options: RelayOptions;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** What belongs into this very store: jobs, and entries unless the ledger is elsewhere. */
  async relayLocal(isStopped: IsStopped): Promise<number> {
    const isSplit = this.#options.ledgerWriter.home === "elsewhere";
    let count = 0;
    for (let isMore = true; isMore && !isStopped();) {
      const items = await this.#read();
      const ours = items.filter(({ kind }) => kind === "jobs" || !isSplit);
      const carried: OutboxItem[] = [];
      for (const item of ours) if (await this.#carry(item)) carried.push(item);
      await this.#clear(carried);
      count += carried.length;
      isMore = items.length === RELAY_STEP && carried.length > 0;
      // Jobs may stand behind a page full of entries that cannot leave.
      if (items.length === RELAY_STEP && ours.length === 0) isMore = await this.#makeWay(items);
    }
    return count;
  }

  /** False if it must wait: a key of one of its jobs is being decided in a caller's transaction. */
  async #carry(item: OutboxItem): Promise<boolean> {
    const { store } = this.#options.watched;
    if (item.kind === "entries") {
      await store.ledger.append(item.entries);
      return true;
    }
    const results = await store.insert(item.jobs, { evenIfFull: true });
    return results.every(({ outcome }) => outcome !== "busy");
  }

  /** What belongs to the ledger elsewhere. */
  async relayToLedger(isStopped: IsStopped): Promise<number> {
    const { ledgerWriter } = this.#options;
    let count = 0;
    for (let isMore = true; isMore && !isStopped();) {
      const items = await this.#read();
      const entries = entriesOf(items);
      await ledgerWriter.append(entries);
      await this.#clear(items.filter(({ kind }) => kind === "entries"));
      count += entries.length;
      isMore = items.length === RELAY_STEP && entries.length > 0;
    }
    for (let isMore = true; isMore && !isStopped();) isMore = await this.#carryWaiting();
    return count;
  }

  /** Entries that did not come with a settle: an operator's actions, and those that made way. */
  async #carryWaiting(): Promise<boolean> {
    const { ledgerWriter, watched } = this.#options;
    const { store } = watched;
    const { records, nextCursor } = await store.records.scan({
      ...{ prefix: WAITING_ENTRIES, limit: RELAY_STEP },
    });
    if (records.length === 0) return false;
    await ledgerWriter.append(records.map(({ value }) => JSON.parse(value) as LedgerEntry));
    const cleared = records.map(({ key, version }) => ({
      key,
      expect: version,
      value: null,
      ttlMs: null,
    }));
    await store.records.swap(cleared);
    return nextCursor !== null;
  }

  /** Only where spawned jobs pass through the outbox at all. */
  async #makeWay(items: readonly OutboxItem[]): Promise<boolean> {
    const { ledgerWriter, watched } = this.#options;
    const { store } = watched;
    if (store.info().spawnsElsewhere === "atomic") return false;
    await ledgerWriter.wait(entriesOf(items));
    await this.#clear(items);
    return true;
  }

  #read(): Promise<OutboxItem[]> {
    return this.#options.watched.store.outbox.read(RELAY_STEP);
  }

  async #clear(items: readonly OutboxItem[]): Promise<void> {
    if (items.length === 0) return;
    const ids = items.map(({ id }) => id);
    await this.#options.watched.store.outbox.clear(ids);
  }
}

function entriesOf(items: readonly OutboxItem[]): LedgerEntry[] {
  return items.flatMap((item) => (item.kind === "entries" ? item.entries : []));
}
