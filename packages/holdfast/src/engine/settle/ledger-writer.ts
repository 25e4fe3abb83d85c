/**
 * Knows where the ledger is and brings entries there.
 *
 *   in the store of the jobs: entries are written with the settle, in the same step;
 *   elsewhere: they ride with the settle into the store's outbox, and a chore carries them over;
 *   nowhere: the user asked for no ledger, and nothing is written.
 *
 * No job ever waits for a ledger elsewhere. It is opened by the chore that needs it, as often as that
 * takes, and while it is away the entries wait where the jobs are.
 */
import {
  WAITING_ENTRIES,
  type Ledger,
  type LedgerEntry,
  type LedgerStore,
} from "../../core/ledger.ts";
import type { Records } from "../../core/records.ts";
import type { Settlement, Store } from "../../core/store.ts";
import { UnsupportedError } from "../../core/errors.ts";
import type { Logger } from "../logger.ts";
import { LastAnswer } from "../last-answer.ts";
import { sleep, type Runtime } from "../runtime.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";

/** Entries in one call; each is at most some 20 KiB. */
const APPEND_AT_ONCE = 100;
/** How often an entry that follows an operator's action is tried, before people are told instead. */
const NOTE_TRIES = 4;
/** Entries of jobs that ran in their callers, kept in memory while the ledger is away. */
const MOST_IN_HAND = 1_000;

export interface LedgerWriterOptions {
  readonly store: Store;
  /** `"store"`: in the store of the jobs itself. */
  readonly ledger: LedgerStore | "store" | undefined;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

export class LedgerWriter {
  readonly home: "store" | "elsewhere" | "nowhere";
  readonly lastAnswer: LastAnswer;
  readonly #options: LedgerWriterOptions;
  readonly #elsewhere: LedgerStore | null;
  #opening: Promise<void> | null = null;
  #inHand: LedgerEntry[] = [];
  #handing: Promise<void> | null = null;
  #wasTold = false;
  #isClosed = false;

  constructor(options: LedgerWriterOptions) {
    const { store, ledger } = options;
    this.#options = options;
    const isInStore = ledger === "store" || ledger === store;
    this.#elsewhere = isInStore || ledger === undefined ? null : (ledger as LedgerStore);
    this.home = ledger === undefined ? "nowhere" : isInStore ? "store" : "elsewhere";
    this.lastAnswer = new LastAnswer(options.runtime);
  }

  /** Where a settle puts entries: into the ledger beside the jobs, or on their way to another. */
  placed(entries: readonly LedgerEntry[]): Pick<Settlement, "entries" | "outbox"> {
    if (this.home === "nowhere") return {};
    return this.home === "store" ? { entries } : { outbox: entries };
  }

  /**
   * When something happens, for an entry. An entry that travels has the time of this host, or a
   * whole outage would seem to have happened at its end; one that does not, the store's.
   */
  now(): number | null {
    return this.home === "elsewhere" ? this.#options.runtime.wallClock() : null;
  }

  /** After an operator's action. The action has happened, so a failure to write its entry is logged, not thrown. */
  async note(entry: LedgerEntry): Promise<void> {
    const { runtime, logger } = this.#options;
    for (let tries = 1; this.home !== "nowhere"; tries += 1) {
      try {
        return await this.record([entry]);
      } catch (error) {
        if (tries < NOTE_TRIES && isRetryable(error)) {
          await sleep(runtime, retryDelayMs(tries, runtime.random()));
          continue;
        }
        logger.error("the audit entry of an action that has happened could not be written", {
          error,
          entry: entry.id,
        });
        return;
      }
    }
  }

  /** To the ledger, or to where entries wait for one elsewhere. Throws; again changes nothing. */
  async record(entries: readonly LedgerEntry[]): Promise<void> {
    if (this.home === "store") await this.append(entries);
    else if (this.home === "elsewhere") await this.wait(entries);
  }

  /** Puts entries where they wait to be carried: beside the jobs, outside of the outbox. */
  async wait(entries: readonly LedgerEntry[]): Promise<void> {
    const { records } = this.#options.store;
    const swaps = entries.map((entry) => ({
      key: WAITING_ENTRIES + entry.id,
      // One that waits already is the same one.
      expect: null,
      value: JSON.stringify(entry),
      ttlMs: null,
    }));
    for (let from = 0; from < swaps.length; from += APPEND_AT_ONCE) {
      await records.swap(swaps.slice(from, from + APPEND_AT_ONCE));
    }
  }

  /** Brings entries to the ledger, or throws; again changes nothing. */
  async append(entries: readonly LedgerEntry[]): Promise<void> {
    for (let from = 0; from < entries.length; from += APPEND_AT_ONCE) {
      await this.ask((ledger) => ledger.append(entries.slice(from, from + APPEND_AT_ONCE)));
    }
  }

  /**
   * For a job that runs without a store, there is no settle to ride with: its entries are brought in
   * the background, for as long as this process lives. Without a ledger elsewhere there is nowhere to.
   */
  bring(entries: readonly LedgerEntry[]): void {
    if (this.home !== "elsewhere" || entries.length === 0) return;
    this.#inHand.push(...entries);
    if (this.#inHand.length > MOST_IN_HAND) {
      this.#inHand.splice(0, this.#inHand.length - MOST_IN_HAND);
      this.#options.logger.error("too many entries wait for the ledger: the oldest is dropped");
    }
    this.#handing ??= this.#bringAll().finally(() => {
      this.#handing = null;
    });
  }

  async #bringAll(): Promise<void> {
    const { runtime, logger } = this.#options;
    for (let failures = 0; this.#inHand.length > 0 && !this.#isClosed;) {
      const entries = this.#inHand.slice(0, APPEND_AT_ONCE);
      try {
        await this.append(entries);
      } catch (error) {
        if (isRetryable(error)) {
          failures += 1;
          await sleep(runtime, retryDelayMs(failures, runtime.random()));
          continue;
        }
        logger.error("the ledger refused entries; they are dropped", { error });
      }
      failures = 0;
      this.#inHand = this.#inHand.filter((entry) => !entries.includes(entry));
    }
  }

  /** Resolves once no entry is in this process's hands. */
  async idle(): Promise<void> {
    await this.#handing;
  }

  /** One call to the ledger, wherever it is. */
  async ask<Out>(call: (ledger: Ledger) => Promise<Out>): Promise<Out> {
    if (this.home === "nowhere") {
      throw new UnsupportedError(
        'this Holdfast keeps no ledger: make it with new Holdfast({ ledger: "store" })',
      );
    }
    return this.#elsewhere
      ? this.#askElsewhere(this.#elsewhere, ({ ledger }) => call(ledger))
      : call(this.#options.store.ledger);
  }

  /** One call to the records beside the ledger; without a ledger, to those beside the jobs. */
  async askRecords<Out>(call: (records: Records) => Promise<Out>): Promise<Out> {
    return this.#elsewhere
      ? this.#askElsewhere(this.#elsewhere, ({ records }) => call(records))
      : call(this.#options.store.records);
  }

  async #askElsewhere<Out>(
    elsewhere: LedgerStore,
    call: (elsewhere: LedgerStore) => Promise<Out>,
  ): Promise<Out> {
    try {
      this.#opening ??= elsewhere.open();
      await this.#opening.catch((error: unknown) => {
        this.#opening = null;
        throw error;
      });
      const out = await call(elsewhere);
      this.lastAnswer.answered();
      this.#tell(false);
      return out;
    } catch (error) {
      this.lastAnswer.failed(error);
      if (isRetryable(error)) this.#tell(true, error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#inHand.length > 0) {
      this.#options.logger.error(
        `${this.#inHand.length} entries of jobs that ran in their callers did not reach the ledger`,
      );
    }
    await this.#elsewhere?.close();
  }

  /** Once per outage, not once per call. */
  #tell(isAway: boolean, error?: unknown): void {
    if (isAway === this.#wasTold) return;
    this.#wasTold = isAway;
    const { logger } = this.#options;
    if (isAway)
      logger.warn("the ledger does not answer; its entries wait beside the jobs", { error });
    else logger.info("the ledger answers again");
  }
}
