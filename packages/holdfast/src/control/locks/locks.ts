/** Execution locks, for people: which work runs, or is done and does not run again. */
import { LockNotFoundError } from "../../core/errors.ts";
import { judgedLock, type LockRecord, type LockState } from "../../core/lock.ts";
import { checkOneOf, checkOptions, checkText, checkWhole } from "../../core/option-checks.ts";
import { cleanText } from "../../core/text.ts";
import { checkWhy, type WhyOptions } from "../../core/why-options.ts";
import { fillPage, type ExtensionHost } from "../../engine/extension.ts";
import { LockKeeper } from "./lock-keeper.ts";
import { holdersOf, lockOf, lockPrefix, readLock, writeLock } from "./lock-records.ts";

export interface LocksQuery {
  /** As the contract names it. With it the others are not read. */
  readonly key?: string | undefined;
  readonly owner?: string | undefined;
  readonly scope?: string | undefined;
  readonly state?: LockState | undefined;
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface LockView {
  readonly id: string;
  readonly key: string;
  readonly scope: string;
  /** `""`: of no owner. */
  readonly owner: string;
  /** As its job says it: a lock whose holder died is `failed`, and the next job takes it over. */
  readonly state: LockState;
  /** 16 hex digits; what is under the names of secrets does not count. */
  readonly payloadHash: string;
  readonly jobId: string;
  readonly type: string;
  readonly queue: string;
  readonly group: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
}

export interface LocksPage {
  readonly locks: readonly LockView[];
  /** Null on the last page. A page may be short and still have one. */
  readonly nextCursor: string | null;
}

const STATES = ["running", "completed", "failed"] as const;
const WORDS = ["key", "owner", "scope"] as const;

export class Locks {
  readonly #host: ExtensionHost;
  readonly #open: () => Promise<void>;
  readonly #isElsewhere: boolean;
  /** @internal */
  readonly keeper: LockKeeper;

  /** `open` resolves once the store of the jobs is open. */
  constructor(
    { host, ledgerWriter }: { host: ExtensionHost; ledgerWriter: { readonly home: string } },
    open: () => Promise<void>,
  ) {
    this.#host = host;
    this.#open = open;
    this.#isElsewhere = ledgerWriter.home === "elsewhere";
    this.keeper = new LockKeeper(host);
  }

  /** How many jobs of this process ran without their lock, because it could not be asked. */
  get failedOpen(): number {
    return this.keeper.failedOpen;
  }

  /** Those of one key stand together; otherwise in no order that means anything. */
  async list(query: LocksQuery = {}): Promise<LocksPage> {
    checkOptions("locks.list", query, [...WORDS, "state", "limit", "cursor"]);
    const { limit = 50, cursor = null, state } = query;
    checkWhole("limit", limit, { min: 1, max: 200 });
    if (state !== undefined) checkOneOf("state", state, STATES);
    const wanted = WORDS.filter((word) => query[word] !== undefined).map(
      (word) => [word, checkText(word, query[word])] as const,
    );
    await this.#ready();
    const { lastingRecords, runtime } = this.#host;
    const prefix = lockPrefix(query.key);
    const page = await fillPage({ limit, cursor, runtime }, async (part) => {
      const found = await lastingRecords((records) => records.scan({ prefix, ...part }));
      const locks = found.records
        .map((record) => lockOf(record)!.lock)
        .filter((lock) => wanted.every(([word, value]) => lock[word] === value));
      const judged = await this.#judged(locks);
      const items = judged.filter((lock) => state === undefined || lock.state === state);
      return { items, nextCursor: found.nextCursor };
    });
    return { locks: page.items.map(lockView), nextCursor: page.nextCursor };
  }

  /** Null if there is no such lock. */
  async get(id: string): Promise<LockView | null> {
    checkText("the id of a lock", id);
    await this.#ready();
    const found = await this.#host.lastingRecords((records) => readLock(records, id));
    if (found === null) return null;
    const [judged] = await this.#judged([found.lock]);
    return lockView(judged!);
  }

  /**
   * The next job of its owner, key and scope runs, whatever was before. Audited. One that runs now goes on:
   * two may then run at once.
   */
  async release(id: string, options: WhyOptions = {}): Promise<void> {
    checkText("the id of a lock", id);
    const why = checkWhy("locks.release", options);
    await this.#ready();
    const { lastingRecords, audit } = this.#host;
    for (;;) {
      const found = await lastingRecords((records) => readLock(records, id));
      if (found === null) throw notFound(id);
      const { lock, version: expect } = found;
      const write = { lock: null, expect };
      const { written } = await lastingRecords((records) => writeLock(records, id, write));
      if (!written) continue;
      const { key, scope, owner, state, jobId, type, queue, group } = lock;
      const details = { lock: id, key, scope, owner, state };
      return audit({ action: "release lock", ...why, details }, { jobId, type, queue, group });
    }
  }

  /** The store of the jobs knows who holds a lock. While it is away, locks elsewhere are shown by their age. */
  async #ready(): Promise<void> {
    const opening = this.#open();
    await (this.#isElsewhere ? opening.catch(() => {}) : opening);
  }

  /** As their jobs say it; by their age where those cannot be asked. */
  async #judged(locks: readonly LockRecord[]): Promise<readonly LockRecord[]> {
    const running = locks.filter(({ state }) => state === "running");
    if (running.length === 0) return locks;
    const { jobs, runtime } = this.#host;
    const now = await jobs.now().catch(() => runtime.wallClock());
    const holders = await holdersOf(this.#host, running).catch(() => []);
    return locks.map((lock) => {
      const at = running.indexOf(lock);
      const { staleMs } = lock;
      return at === -1 ? lock : judgedLock(lock, holders[at] ?? null, { now, staleMs });
    });
  }
}

function lockView(lock: LockRecord): LockView {
  const { id, key, scope, owner, state, hash, jobId, type, queue, group } = lock;
  return {
    ...{ id, key, scope, owner, state, payloadHash: hash, jobId, type, queue, group },
    startedAt: new Date(lock.startedAt),
    finishedAt: lock.finishedAt === null ? null : new Date(lock.finishedAt),
  };
}

function notFound(id: string): LockNotFoundError {
  return new LockNotFoundError(
    `there is no lock ${cleanText(id, 64)}: locks.list() has those that are`,
  );
}
