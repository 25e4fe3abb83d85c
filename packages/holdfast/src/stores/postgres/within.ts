/**
 * `insert` and `settle` inside the caller's own transaction, on the caller's own connection: what is
 * written there exists exactly if the caller commits.
 *
 * Such a transaction may stay open for long, so nothing of it may lock what others need: it counts in
 * rows of its own, it takes no lock of a queue, and new queues are added beside it. Only an insert of
 * the very same idempotency key waits for it.
 */
import { NotInTransactionError, StoreUnavailableError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { JobRef, Settlement, WithinTransaction } from "../../core/store.ts";
import { Session, type DatabaseOptions } from "./database.ts";
import { insert } from "./insert.ts";
import { get } from "./job-view.ts";
import { CallersTransaction } from "./callers-transaction.ts";
import { ExecutorClient, isExecutor } from "./executor-client.ts";
import {
  connectionOf,
  isClientLike,
  isExhausted,
  transactionStatus,
  type ClientLike,
} from "./pool-like.ts";
import { codeOf, storeError } from "./postgres-error.ts";
import type { QueueBook } from "./queue-book.ts";
import { number, textOrNull } from "./row-values.ts";
import { settlePlainly } from "./settle-plainly.ts";
import { settle } from "./settle.ts";
import { clockSql, Transaction } from "./transaction.ts";
import { withDeadline } from "../shared/with-deadline.ts";

export interface WithinOptions extends DatabaseOptions {
  readonly queues: QueueBook;
  /** Of our schema, as it was found when the store was opened. */
  readonly id: string;
  /** What the transaction owes to those who listen, once it has ended. */
  readonly onEnded: (owed: {
    readonly woken: ReadonlySet<number>;
    readonly finished: readonly string[];
  }) => void;
  /** Throws if the store is not open. */
  readonly mustBeOpen: () => void;
}

/** What is wrong with a transaction, by the code of the error that it gives. */
const WRONG: Readonly<Record<string, string>> = {
  "25P01": "is not inside a transaction: send BEGIN first",
  "25P02": "has failed: roll it back",
  "42P01": "is connected to another database than this store",
  "3F000": "is connected to another database than this store",
};

export function within(tx: unknown, options: WithinOptions): WithinTransaction {
  const given: unknown = isExecutor(tx) ? new ExecutorClient(tx, options.pool) : tx;
  // A pool looks like a connection, but each of its queries may go to another one.
  if (!isClientLike(given) || "totalCount" in given) {
    throw notInTransaction(
      "is not a connection of pg: give the client on which BEGIN was sent, or a function that runs a statement in your transaction",
    );
  }
  const client: ClientLike = given;
  const transaction = CallersTransaction.on(client);
  if (!transaction.isOpen())
    throw notInTransaction("is not inside a transaction: send BEGIN first");
  mustWork();
  const session = new Session(client, options);
  const watch = new EndWatch(transaction, options.onEnded);

  function mustWork(): void {
    if (transactionStatus(client) === "E") throw notInTransaction("has failed: roll it back");
  }

  async function run<T>(work: (inner: Transaction) => Promise<T>): Promise<T> {
    options.mustBeOpen();
    const { deadlineMs } = options;
    const progress = { mayHaveHappened: false, isLate: false };
    const working = inTurn(connectionOf(client) ?? (tx as object), async () => {
      if (progress.isLate) throw new Error("its caller has given up");
      if (!transaction.isOpen())
        throw notInTransaction("has ended: call within again in a new one");
      mustWork();
      progress.mayHaveHappened = true;
      return step(session, work, { ...options, watch });
    });
    return withDeadline(working, deadlineMs, () => {
      progress.isLate = true;
      const message = `PostgreSQL did not answer within ${deadlineMs} ms`;
      return new StoreUnavailableError(message, progress);
    });
  }

  /** Through the caller's connection, as far as it can be: the pool may have no other. */
  async function queuesOf(
    inner: Transaction,
    jobs: readonly NewJob[],
  ): Promise<ReadonlyMap<string, number>> {
    const names = [...new Set(jobs.map(({ queue }) => queue))];
    const found = await options.queues.seenBy(inner, names);
    const missing = names.filter((name) => !found.has(name));
    if (missing.length === 0) return found;
    const added = isExhausted(options.pool)
      ? await options.queues.addIn(inner, missing)
      : await options.queues.findOrAdd(missing);
    return new Map([...found, ...added]);
  }

  return {
    async insert(jobs: readonly NewJob[], { evenIfFull = false } = {}) {
      if (jobs.length === 0) return [];
      return run(async (inner) => {
        const queues = await queuesOf(inner, jobs);
        const how = { clock: options.clock, queues, evenIfFull, isLate: true };
        return insert(inner, jobs, how);
      });
    },
    async settle(settlements: readonly Settlement[]) {
      if (settlements.length === 0) return [];
      return run(async (inner) => {
        const spawned = settlements.flatMap(({ spawn = [] }) => spawn);
        const queues = await queuesOf(inner, spawned);
        const { clock, remembersMs } = options;
        const plain = await settlePlainly(inner, settlements, { clock, remembersMs, isLate: true });
        for (const id of plain.settled) inner.finished.push(id);
        for (const q of plain.woken) inner.woken.add(q);
        const { rest } = plain;
        const results = rest.length === 0 ? [] : await settle(inner, rest, { clock, queues });
        return plain.resultsWith(results);
      });
    },
    async get(refs: readonly JobRef[]) {
      return refs.length === 0 ? [] : run((inner) => get(inner, refs, options.clock));
    },
    isOpen: () => transaction.isOpen(),
  };
}

/** By connection, or by the function that stands for one: the last call. */
const calls = new WeakMap<object, Promise<unknown>>();

/**
 * Calls in one transaction take turns. Their savepoints have one name: side by side, the rollback of one
 * would undo what another was told is stored.
 */
function inTurn<T>(transaction: object, call: () => Promise<T>): Promise<T> {
  const turn = (calls.get(transaction) ?? Promise.resolve()).then(call);
  calls.set(
    transaction,
    turn.catch(() => {}),
  );
  return turn;
}

/** One call is all or none, also if the caller catches its error and commits the rest. */
async function step<T>(
  session: Session,
  work: (inner: Transaction) => Promise<T>,
  options: WithinOptions & { readonly watch: EndWatch },
): Promise<T> {
  try {
    const inner = await join(session, options);
    const answer = await work(inner);
    await inner.flush();
    await session.script("RELEASE SAVEPOINT holdfast_within");
    options.watch.add(inner);
    return answer;
  } catch (error) {
    await session
      .script("ROLLBACK TO SAVEPOINT holdfast_within; RELEASE SAVEPOINT holdfast_within")
      .catch(() => {});
    throw storeError(error, { mayHaveHappened: false });
  }
}

/** The savepoint fails where there is no transaction, the look where there is no schema of ours. */
async function join(
  session: Session,
  { clock, remembersMs, id }: WithinOptions,
): Promise<Transaction> {
  const look = `SELECT ${clockSql(clock, false)}, (SELECT value FROM holdfast.meta WHERE key = 'id')`;
  const [row] = await session
    .script(`SAVEPOINT holdfast_within; ${look}`)
    .catch((error: unknown) => {
      const wrong = WRONG[codeOf(error) ?? ""];
      throw wrong === undefined ? error : notInTransaction(wrong);
    });
  if (row === undefined || textOrNull(row, 1) !== id) {
    throw notInTransaction("is connected to another database than this store");
  }
  const micros = number(row, 0);
  clock.saw(micros);
  return new Transaction(session, { micros, isLate: true, remembersMs });
}

function notInTransaction(what: string): NotInTransactionError {
  return new NotInTransactionError(`within(tx) was given a tx that ${what}`);
}

/**
 * Nobody tells us when the caller commits, so we look: soon and then less and less often, about a
 * minute in all. Whoever has a transaction open longer than that leaves it to the poll.
 */
class EndWatch {
  readonly #transaction: CallersTransaction;
  readonly #onEnded: WithinOptions["onEnded"];
  readonly #woken = new Set<number>();
  readonly #finished: string[] = [];
  #isWatching = false;

  constructor(transaction: CallersTransaction, onEnded: WithinOptions["onEnded"]) {
    this.#transaction = transaction;
    this.#onEnded = onEnded;
  }

  add({ woken, finished }: Transaction): void {
    for (const q of woken) this.#woken.add(q);
    this.#finished.push(...finished);
    if (this.#isWatching || this.#woken.size + this.#finished.length === 0) return;
    this.#isWatching = true;
    setImmediate(() => this.#look(0));
  }

  #look(looks: number): void {
    if (!this.#transaction.isOpen()) {
      this.#isWatching = false;
      this.#onEnded({ woken: new Set(this.#woken), finished: [...this.#finished] });
      this.#woken.clear();
      this.#finished.length = 0;
    } else if (looks < 10) {
      setImmediate(() => this.#look(looks + 1));
    } else if (looks < 100) {
      setTimeout(() => this.#look(looks + 1), Math.min(1_000, looks)).unref();
    }
  }
}
