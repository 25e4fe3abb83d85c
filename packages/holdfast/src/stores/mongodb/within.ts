/**
 * `insert` and `settle` inside the caller's own transaction: what is written there exists exactly if
 * the caller commits. It is written through the caller's own client, whoever made the session.
 *
 * Such a transaction may stay open for long, so nothing of it may lock what others need: numbers and
 * new queues are written beside it. Only who writes the same job or the same key waits for it. An error
 * of the server ends the caller's transaction, and reaches him as it is, so that the driver's own
 * `withTransaction` can begin again.
 */
import { NotInTransactionError, StoreUnavailableError } from "../../core/errors.ts";
import type { WithinTransaction } from "../../core/store.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { isSessionLike, type ClientLike, type SessionLike } from "./driver-like.ts";
import { insert } from "./insert.ts";
import { isTransactionError, storeError } from "./mongodb-error.ts";
import { settle } from "./settle.ts";
import { Told } from "./told.ts";
import { withDeadline } from "../shared/with-deadline.ts";

export interface WithinOptions extends DatabaseOptions {
  /** Of our collections, as it was found when the store was opened. */
  readonly id: string;
  /** Here it is noted while nobody knows how it ended. */
  readonly watches: Set<EndWatch>;
  /** What those who listen are to hear of the transaction, once it has ended. */
  readonly onEnded: (told: Told) => void;
  /** Throws if the store is not open. */
  readonly mustBeOpen: () => void;
}

/** Clients that were seen to reach our own collections. */
const known = new WeakMap<ClientLike, Set<string>>();

export function within(tx: unknown, options: WithinOptions): WithinTransaction {
  if (!isSessionLike(tx)) {
    throw notInTransaction("is not a session of the driver: give the one on which it was started");
  }
  const session = tx;
  const isOpen = lifeOf(session);
  mustBeInside(isOpen);
  const watch = new EndWatch(isOpen, options);
  const ownDb = session.client.db(options.db.databaseName);
  const db = new Database({ ...options, db: ownDb, session });

  async function run<T>(work: (told: Told) => Promise<T>): Promise<T> {
    options.mustBeOpen();
    mustBeInside(isOpen);
    const told = new Told();
    const { deadlineMs } = options;
    const working = mustBeOurs(session, db, options).then(() => work(told));
    try {
      const answer = await withDeadline(working, deadlineMs, () => {
        const message = `MongoDB did not answer within ${deadlineMs} ms`;
        return new StoreUnavailableError(message, { mayHaveHappened: true });
      });
      watch.add(told);
      return answer;
    } catch (error) {
      throw isTransactionError(error) ? error : storeError(error);
    }
  }

  return {
    async insert(jobs, { evenIfFull = false } = {}) {
      return jobs.length === 0 ? [] : run((told) => insert(db, jobs, { evenIfFull, told }));
    },
    async settle(settlements) {
      return settlements.length === 0 ? [] : run((told) => settle(db, settlements, told));
    },
    isOpen,
  };
}

/**
 * Is the transaction open in which the session is now? Once it has ended it stays so, whatever else is
 * begun on the same session.
 */
function lifeOf(session: SessionLike): () => boolean {
  const { transaction } = session;
  let hasEnded = false;
  return () => {
    try {
      const isSame = session.transaction === transaction;
      hasEnded ||= session.hasEnded || !isSame || !session.inTransaction();
    } catch {
      hasEnded = true;
    }
    return !hasEnded;
  };
}

function mustBeInside(isOpen: () => boolean): void {
  if (isOpen()) return;
  throw notInTransaction(
    "is not inside a transaction, or no more inside the one it was in: call startTransaction() first",
  );
}

async function mustBeOurs(
  session: SessionLike,
  db: Database,
  { id }: WithinOptions,
): Promise<void> {
  const seen = known.get(session.client);
  if (seen?.has(id) === true) return;
  const found = await db.collection("head").find({ _id: "store" }, {}).toArray();
  if (found[0]?.["id"] !== id) {
    throw notInTransaction("belongs to another database than this store");
  }
  known.set(session.client, new Set([...(seen ?? []), id]));
}

function notInTransaction(what: string): NotInTransactionError {
  return new NotInTransactionError(`within(tx) was given a tx that ${what}`);
}

/**
 * Nobody tells us when the caller commits, so we look: soon and then less and less often, about a
 * minute in all, and whenever this process calls the store. Whoever has a transaction open longer than that
 * leaves it to the poll.
 */
export class EndWatch {
  readonly #isOpen: () => boolean;
  readonly #options: Pick<WithinOptions, "watches" | "onEnded">;
  #told = new Told();

  constructor(isOpen: () => boolean, options: Pick<WithinOptions, "watches" | "onEnded">) {
    this.#isOpen = isOpen;
    this.#options = options;
  }

  add(told: Told): void {
    this.#told.add(told);
    const { watches } = this.#options;
    if (watches.has(this)) return;
    watches.add(this);
    setImmediate(() => this.#lookAgain(0));
  }

  look(): void {
    const { watches, onEnded } = this.#options;
    if (!watches.has(this) || this.#isOpen()) return;
    watches.delete(this);
    const told = this.#told;
    this.#told = new Told();
    onEnded(told);
  }

  #lookAgain(looks: number): void {
    const { watches } = this.#options;
    this.look();
    if (!watches.has(this)) return;
    if (looks < 10) {
      setImmediate(() => this.#lookAgain(looks + 1));
    } else if (looks < 160) {
      setTimeout(() => this.#lookAgain(looks + 1), looks < 100 ? looks : 1_000).unref();
    } else {
      watches.delete(this);
    }
  }
}
