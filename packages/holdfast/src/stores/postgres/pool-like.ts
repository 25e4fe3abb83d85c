/**
 * The driver, described by shape: what this store needs of `pg`. A pool of another package that looks
 * like this will do.
 */
export interface PoolLike {
  connect(): Promise<PooledClientLike>;
  end(): Promise<void>;
  on?: PoolEvents;
  removeListener?: PoolEvents;
}

interface PoolEvents {
  (event: "error", listener: (error: Error) => void): unknown;
  /** A connection has come about; told before anybody has it. */
  (event: "connect", listener: (client: ClientLike) => void): unknown;
}

/** A connection. `within(tx)` takes one that is inside a transaction. */
export interface ClientLike {
  query(query: QueryLike): Promise<ResultLike>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  removeListener?(event: "error", listener: (error: Error) => void): unknown;
}

export interface PooledClientLike extends ClientLike {
  /** With an error or true: the connection is not used again. */
  release(destroy?: Error | boolean): void;
}

export interface QueryLike {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Prepared under this name, once per connection. */
  readonly name?: string;
  readonly rowMode: "array";
  readonly types: TypesLike;
}

export interface TypesLike {
  getTypeParser(oid: number, format?: unknown): (text: string) => string;
}

export interface ResultLike {
  readonly rows: unknown[][];
}

/** Values come as the text the server sent: what an application taught its driver changes nothing here. */
export const AS_TEXT: TypesLike = { getTypeParser: () => (text) => text };

export function isPoolLike(value: unknown): value is PoolLike {
  return isObject(value) && isFunction(value["connect"]) && isFunction(value["end"]);
}

export function isClientLike(value: unknown): value is ClientLike {
  return isObject(value) && isFunction(value["query"]);
}

/** Whoever asks it for a connection now waits until somebody gives one back. A pool that does not tell has some. */
export function isExhausted(pool: PoolLike): boolean {
  const { totalCount, idleCount, options } = pool as {
    readonly totalCount?: number;
    readonly idleCount?: number;
    readonly options?: { readonly max?: number };
  };
  const most = options?.max;
  return most !== undefined && idleCount === 0 && totalCount !== undefined && totalCount >= most;
}

/** Ends a connection that does not answer, whatever it is doing. */
export function destroyClient(client: PooledClientLike): void {
  const { connection } = client as { connection?: { stream?: { destroy?: () => void } } };
  // Before the release: with the socket gone, the farewell of the protocol cannot hang.
  connection?.stream?.destroy?.();
  client.release(true);
}

/**
 * I outside any transaction, T inside one, E inside one that has failed; undefined if this driver
 * does not tell.
 */
export function transactionStatus(client: ClientLike): string | null | undefined {
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null };
  return isFunction(getTransactionStatus) ? getTransactionStatus.call(client) : undefined;
}

/** What a connection says of itself while it works. */
export interface ConnectionLike {
  on(event: string, listener: (message: never) => void): unknown;
  removeListener(event: string, listener: (message: never) => void): unknown;
}

/** What is beneath a client of `pg`; null if this driver has nothing to listen to. */
export function connectionOf(client: ClientLike): ConnectionLike | null {
  const { connection } = client as { connection?: unknown };
  if (!isObject(connection)) return null;
  const canListen = isFunction(connection["on"]) && isFunction(connection["removeListener"]);
  return canListen ? (connection as unknown as ConnectionLike) : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isFunction(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === "function";
}
