/**
 * One way to the store for everything in a process: worker, producer, operator and chores. Every call is
 * counted and timed, every answer noted. So the reaper knows whether this process has been in contact,
 * health knows when the store answered last, and people hear of an outage once, not a thousand times.
 */
import { StoreUnavailableError } from "../core/errors.ts";
import { BATCH_ITEMS } from "../core/job.ts";
import type { Store } from "../core/store.ts";
import { LastAnswer } from "./last-answer.ts";
import { Contact } from "./lease/contact.ts";
import type { Logger } from "./logger.ts";
import { isRetryable } from "./retrying.ts";
import type { Runtime } from "./runtime.ts";

/** The calls that live workers make too. An answer to any other says nothing about renewals. */
const CONTACT = new Set(["now", "lease", "renew", "settle", "reap"]);
const VERBS = [
  ...["now", "insert", "adopt", "lease", "renew", "settle", "reap", "disown"],
  ...["cancel", "revive", "reschedule", "remove", "prune"],
  ...["get", "place", "find", "count", "countDead", "hold", "limit", "lines"],
] as const;
const ROOMS = {
  outbox: ["read", "clear"],
  ledger: ["append", "read", "amend", "count", "trim", "remove"],
  records: ["read", "swap", "scan"],
} as const;

/** What this process has asked of one verb so far. */
export interface VerbCalls {
  calls: number;
  /** Jobs, renewals, settlements, …: what the calls carried. */
  items: number;
  errors: number;
  totalMs: number;
}

export interface WatchedStoreOptions {
  readonly store: Store;
  /** False: it only stands in for one that no caller gave. Default true. */
  readonly hasStore?: boolean;
  readonly runtime: Runtime;
  readonly logger: Logger;
  /** A longer gap between two answers is a break in contact. */
  readonly longestGapMs: () => number;
  /** What stands in front of it for everything in the process. */
  readonly around?: (store: Store) => Store;
}

export class WatchedStore {
  /** The same store, watched. */
  readonly store: Store;
  readonly contact: Contact;
  readonly lastAnswer: LastAnswer;
  /** By verb; those of rooms as `records.read`. */
  readonly calls = new Map<string, VerbCalls>();
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  #isAway = false;
  readonly #hasStore: boolean;
  #wasOpened = false;
  /** Noted at the opening: each job that is enqueued or settled asks, and what a store says of itself may cost a look. */
  #hasSeveralServers = false;

  constructor(options: WatchedStoreOptions) {
    const { store, hasStore = true, runtime, logger, longestGapMs } = options;
    this.#hasStore = hasStore;
    this.#runtime = runtime;
    this.#logger = logger;
    this.contact = new Contact({ longestGapMs });
    this.lastAnswer = new LastAnswer(runtime);
    const watched = this.#watch(store);
    this.store = options.around?.(watched) ?? watched;
  }

  /** How many items one call may carry. */
  get batchItems(): number {
    return this.store.batchItems ?? BATCH_ITEMS;
  }

  /** One of them may be out of reach, and the others not. */
  get hasSeveralServers(): boolean {
    return this.#hasSeveralServers;
  }

  #watch(store: Store): Store {
    const room = (name: keyof typeof ROOMS) =>
      this.#watchVerbs(() => store[name], ROOMS[name], `${name}.`);
    return {
      ...(store.batchItems !== undefined && { batchItems: store.batchItems }),
      ...(store.insertsAtOnce !== undefined && { insertsAtOnce: store.insertsAtOnce }),
      open: () => this.#open(store),
      close: () => store.close(),
      info: () => store.info(),
      onWakeup: (listener) => store.onWakeup(listener),
      ...this.#watchVerbs(() => store, VERBS, ""),
      ...{ outbox: room("outbox"), ledger: room("ledger"), records: room("records") },
      // Asked for when it is needed: a store may know only once it is open whether it has transactions.
      get within() {
        const { within } = store;
        return within && ((tx: unknown) => within.call(store, tx));
      },
    } as Store;
  }

  async #open(store: Store): Promise<void> {
    try {
      await store.open();
    } catch (error) {
      this.lastAnswer.failed(error);
      throw error;
    }
    if (this.#wasOpened || !this.#hasStore) return;
    this.#wasOpened = true;
    const { name, warnings = [], hasSeveralServers = false } = store.info();
    this.#hasSeveralServers = hasSeveralServers;
    for (const warning of warnings) this.#logger.warn(`${name}: ${warning}`);
  }

  #watchVerbs(target: () => object, names: readonly string[], prefix: string): object {
    return Object.fromEntries(names.map((name) => [name, this.#verb(target, name, prefix + name)]));
  }

  #verb(target: () => object, name: string, key: string) {
    const counts: VerbCalls = { calls: 0, items: 0, errors: 0, totalMs: 0 };
    this.calls.set(key, counts);
    const isContact = CONTACT.has(key);
    return async (...args: readonly unknown[]): Promise<unknown> => {
      const askedAt = this.#runtime.monotonic();
      const asked = isContact ? this.contact.asked(askedAt) : null;
      counts.calls += 1;
      if (Array.isArray(args[0])) counts.items += args[0].length;
      try {
        const owner = target();
        const verb = Reflect.get(owner, name) as (...args: readonly unknown[]) => Promise<unknown>;
        const out = await Reflect.apply(verb, owner, args);
        const now = this.#runtime.monotonic();
        counts.totalMs += now - askedAt;
        if (asked) this.contact.answered(asked, now);
        this.#answered();
        return out;
      } catch (error) {
        counts.errors += 1;
        const isUnanswered = error instanceof StoreUnavailableError;
        if (asked && isUnanswered) this.contact.broken(asked);
        else if (asked) this.contact.answered(asked, this.#runtime.monotonic());
        this.lastAnswer.failed(error);
        if (isContact && isRetryable(error)) this.#missed(error);
        throw error;
      }
    };
  }

  #answered(): void {
    this.lastAnswer.answered();
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#logger.info("the store answers again");
  }

  #missed(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#logger.warn("the store does not answer; trying again until it does", { error });
  }
}
