/**
 * The way to the database: a connection from the pool for every call, a deadline on every wait, and
 * another try where two transactions were in each other's way.
 *
 * A call that got no answer in time ends its connection, and is cancelled on the server. All connections that were idle at that
 * moment are then doubted: whatever broke one of them (a firewall, a failover) has likely broken the
 * others, and finding that out one by one would cost a deadline each. So they are not used again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Clock } from "./clock.ts";
import { AS_TEXT, destroyClient, type ClientLike, type PoolLike } from "./pool-like.ts";
import type { PooledClientLike, QueryLike, ResultLike } from "./pool-like.ts";
import {
  breaksConnection,
  isConnectTimeout,
  isReadOnly,
  isTransient,
  storeError,
} from "./postgres-error.ts";
import type { SchemaName } from "./schema-name.ts";
import { Transaction } from "./transaction.ts";
import { Watchdog } from "./watchdog.ts";
import { withDeadline } from "../shared/with-deadline.ts";

/** As the server sent it, as text. */
export type Row = readonly (string | null)[];

export type Value =
  string | number | boolean | null | readonly (string | number | boolean | null)[];

export interface DatabaseOptions {
  readonly pool: PoolLike;
  readonly schema: SchemaName;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly remembersMs: number;
  /** Statements are prepared by name. Not through a pooler that changes connections in between. */
  readonly prepares: boolean;
}

/** One connection while a call has it. */
export class Session {
  readonly #client: ClientLike;
  readonly #schema: SchemaName;
  readonly #prepares: boolean;

  constructor(
    client: ClientLike,
    { schema, prepares }: Pick<DatabaseOptions, "schema" | "prepares">,
  ) {
    this.#client = client;
    this.#schema = schema;
    this.#prepares = prepares;
  }

  /** A statement that is a constant of the code. */
  async rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    const { text, name } = this.#schema.statement(sql);
    return this.#ask(this.#prepares ? { text, values, name } : { text, values });
  }

  /** A statement that was put together for this call. */
  async rowsOnce(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#ask({ text: this.#schema.put(sql), values });
  }

  async #ask(query: Pick<QueryLike, "text" | "values" | "name">): Promise<Row[]> {
    const reply = await this.#client.query({ ...query, rowMode: "array", types: AS_TEXT });
    return reply.rows as unknown as Row[];
  }

  /** Several statements without values in one message; answers the rows of the last. */
  async script(sql: string): Promise<Row[]> {
    const text = this.#schema.put(sql);
    const reply = await this.#client.query({ text, rowMode: "array", types: AS_TEXT });
    const results = reply as ResultLike | readonly ResultLike[];
    const last = Array.isArray(results) ? results.at(-1) : (results as ResultLike);
    return (last?.rows ?? []) as unknown as Row[];
  }
}

const LOST_ANSWER = "the connection lost an answer of PostgreSQL: try again";

/** What is known of a call that is on its way. */
interface Progress {
  /** It may be done on the server from now on, whether it answers or not. */
  mayHaveHappened: boolean;
}

interface Deadline {
  readonly ms: number;
  /** By `performance.now()`. */
  readonly at: number;
}

export class Database {
  readonly options: DatabaseOptions;
  readonly #lastAnswers = new WeakMap<PooledClientLike, number>();
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #watchdog: Watchdog;
  #brokeAt = -Infinity;
  #losses = 0;

  constructor(options: DatabaseOptions) {
    this.options = options;
    // Behind a pooler that changes connections, nobody knows which backend is whose.
    this.#watchdog = new Watchdog(options.pool, { canLook: options.prepares });
  }

  /** How many connections were lost so far: behind the next one may be another server. */
  get losses(): number {
    return this.#losses;
  }

  /** One that nobody used was lost. */
  lostIdle(): void {
    this.#losses++;
  }

  /** One statement, which is one transaction. */
  rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#call((session, progress) => {
      progress.mayHaveHappened = true;
      return session.rows(sql, values);
    });
  }

  rowsOnce(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#call((session, progress) => {
      progress.mayHaveHappened = true;
      return session.rowsOnce(sql, values);
    });
  }

  /** Several statements, all or none. `work` may be called again after a rollback. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#call(async (session, progress) => {
      try {
        // Inside: if the clock cannot be read, the transaction has begun and must end all the same.
        const tx = await Transaction.begin(session, this.options);
        const answer = await work(tx);
        await tx.flush();
        progress.mayHaveHappened = true;
        await session.script("COMMIT");
        return answer;
      } catch (error) {
        if (!breaksConnection(error)) await session.script("ROLLBACK");
        throw error;
      }
    });
  }

  /** Any use of one connection. Nothing of it may have happened before it says so. */
  session<T>(
    work: (session: Session) => Promise<T>,
    deadlineMs = this.options.deadlineMs,
  ): Promise<T> {
    return this.#call((session) => work(session), deadlineMs);
  }

  /** Something that makes several calls with time between them: `idle` waits for all of it. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#inFlight.add(work);
    const over = (): void => void this.#inFlight.delete(work);
    work.then(over, over);
    return work;
  }

  /** Resolves when every call that was on its way has ended. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled([...this.#inFlight]);
  }

  #call<T>(
    work: (session: Session, progress: Progress) => Promise<T>,
    deadlineMs = this.options.deadlineMs,
  ): Promise<T> {
    const deadline = { ms: deadlineMs, at: performance.now() + deadlineMs };
    return this.during(this.#persistently(work, deadline));
  }

  async #persistently<T>(
    work: (session: Session, progress: Progress) => Promise<T>,
    deadline: Deadline,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const progress: Progress = { mayHaveHappened: false };
      try {
        return await this.#once(work, progress, deadline);
      } catch (error) {
        const isLate = performance.now() >= deadline.at;
        if (!isTransient(error) || isLate) throw storeError(error, progress);
        await sleep(Math.random() * Math.min(100, 5 * 2 ** tries));
      }
    }
  }

  async #once<T>(
    work: (session: Session, progress: Progress) => Promise<T>,
    progress: Progress,
    deadline: Deadline,
  ): Promise<T> {
    const client = await this.#client(deadline.at);
    const ignore = (): void => {};
    // A connection that breaks while nothing is asked of it says so by an event; the next query fails.
    client.on?.("error", ignore);
    const watch = this.#watchdog.watch(client);
    let isBroken = false;
    const silent = (message: string): Error => {
      isBroken = true;
      return new StoreUnavailableError(message, progress);
    };
    try {
      const working = work(new Session(client, this.options), progress);
      const lost = watch.isDead.then(() => Promise.reject(silent(LOST_ANSWER)));
      const late = (): Error => {
        void this.during(this.#watchdog.cancel(client).catch(() => {}));
        return silent(`PostgreSQL did not answer within ${deadline.ms} ms`);
      };
      const answer = await withDeadline(Promise.race([working, lost]), msUntil(deadline.at), late);
      this.#lastAnswers.set(client, performance.now());
      return answer;
    } catch (error) {
      isBroken ||= breaksConnection(error) || isReadOnly(error);
      throw error;
    } finally {
      watch.stop();
      client.removeListener?.("error", ignore);
      if (isBroken) this.#break(client);
      else client.release();
    }
  }

  #break(client: PooledClientLike): void {
    this.#brokeAt = performance.now();
    this.#losses++;
    destroyClient(client);
  }

  async #client(deadlineAt: number): Promise<PooledClientLike> {
    // A migration may take long; a connection to begin it may not.
    const giveUpAt = Math.min(deadlineAt, performance.now() + this.options.deadlineMs);
    for (;;) {
      const connecting = this.options.pool.connect();
      const client = await withDeadline(connecting, msUntil(giveUpAt), () => {
        // Whoever comes too late goes back to the pool.
        connecting.then(
          (late) => late.release(),
          () => {},
        );
        const message = `no connection to PostgreSQL within ${this.options.deadlineMs} ms: none came about, and none of the pool was free. If the server is well, make the pool larger, or give its clients back sooner`;
        return new StoreUnavailableError(message, { mayHaveHappened: false });
      }).catch((error: unknown) => {
        // The pool gives up on a connection long before we do: the next one may come about.
        if (isConnectTimeout(error)) return null;
        throw error;
      });
      if (client === null) continue;
      const lastAnswer = this.#lastAnswers.get(client);
      if (lastAnswer === undefined || lastAnswer > this.#brokeAt) return client;
      destroyClient(client);
    }
  }
}

function msUntil(deadlineAt: number): number {
  return Math.max(0, deadlineAt - performance.now());
}
