/**
 * What this store needs of a client of ioredis, by shape: the driver is an optional peer, and only
 * those who use Redis have it.
 */
export type Arg = string | number | Buffer;

/** What a server answers when nothing is made of it: bytes, numbers, lists. */
export type Reply = Buffer | string | number | null | readonly Reply[];

export interface ClientLike {
  readonly status: string;
  /** Where it connects to, for messages. */
  readonly options?: object;
  /** True of a client of Redis Cluster. */
  readonly isCluster?: boolean;
  callBuffer(command: string, ...args: Arg[]): Promise<unknown>;
  /** Another one to the same place. */
  duplicate(): ClientLike;
  subscribe(...channels: string[]): Promise<unknown>;
  connect(): Promise<unknown>;
  /** Cuts the connection; `reconnect` makes another one at once. */
  disconnect(reconnect?: boolean): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

export function isClientLike(value: unknown): value is ClientLike {
  if (typeof value !== "object" || value === null) return false;
  const client = value as Partial<Record<keyof ClientLike, unknown>>;
  return (["callBuffer", "duplicate", "subscribe", "on", "off"] as const).every(
    (name) => typeof client[name] === "function",
  );
}
