/**
 * A transaction that a caller has begun on a connection of its own: is it still open? Once it has ended
 * it never is again, also if its connection goes back to a pool and somebody else begins another one
 * there.
 *
 * A connection of `pg` says after every query whether it is inside a transaction, so it is listened to
 * from the first question on: the first word that it is outside, that it has committed, or that the
 * connection has ended is the end. It does not say whether a ROLLBACK was AND CHAIN or TO a savepoint,
 * so after ROLLBACK AND CHAIN the answer is still that it is open.
 *
 * A driver with nothing to listen to is asked for its status at each question. It may be outside and
 * inside again between two of them, and then nobody notices. One that does not tell its status either is
 * believed to be inside: the first statement will show.
 */
import { connectionOf, transactionStatus, type ClientLike } from "./pool-like.ts";

/** The open ones, by their connections: any number of calls listen as one. */
const open = new WeakMap<object, CallersTransaction>();

export class CallersTransaction {
  readonly #client: ClientLike;
  #isOver = false;
  #stop = (): void => {};

  /** The one that is open on this connection now. */
  static on(client: ClientLike): CallersTransaction {
    const known = open.get(connectionOf(client) ?? client);
    return known?.isOpen() === true ? known : new CallersTransaction(client);
  }

  private constructor(client: ClientLike) {
    this.#client = client;
    const connection = connectionOf(client);
    if (connection === null || !this.isOpen()) return;
    const onReady = ({ status }: { readonly status?: string }): void => {
      if (status === "I") this.#end();
    };
    const onComplete = ({ text }: { readonly text?: string }): void => {
      if (text === "COMMIT") this.#end();
    };
    const onEnd = (): void => this.#end();
    connection.on("readyForQuery", onReady);
    connection.on("commandComplete", onComplete);
    connection.on("end", onEnd);
    open.set(connection, this);
    this.#stop = () => {
      connection.removeListener("readyForQuery", onReady);
      connection.removeListener("commandComplete", onComplete);
      connection.removeListener("end", onEnd);
      open.delete(connection);
    };
  }

  isOpen(): boolean {
    if (!this.#isOver && !isInside(this.#client)) this.#end();
    return !this.#isOver;
  }

  #end(): void {
    this.#isOver = true;
    this.#stop();
    this.#stop = () => {};
  }
}

function isInside(client: ClientLike): boolean {
  try {
    const status = transactionStatus(client);
    return status === undefined || status === "T" || status === "E";
  } catch {
    // A driver that cannot be asked any more has no transaction.
    return false;
  }
}
