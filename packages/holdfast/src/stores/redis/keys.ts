/**
 * Names of keys. Every key of a queue begins with `{prefix:queue}:`, so that a cluster keeps them
 * together; what belongs to no queue begins with `{prefix}:`. docs/reference/redis-keys.md lists them.
 */
export class Keys {
  /** Where the ledger, the records and the list of queues are. */
  readonly home: string;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.home = `{${prefix}}:`;
  }

  base(queue: string): string {
    return `{${this.#prefix}:${escaped(queue)}}:`;
  }

  get channel(): string {
    return `${this.home}wake`;
  }

  /** A set of names, as they are in keys. */
  get queues(): string {
    return `${this.home}q`;
  }
}

/** A brace would end the hash tag early, and the queue's keys would be spread over the cluster. */
export function escaped(queue: string): string {
  return queue.replaceAll(/[{}%]/g, encodeURIComponent);
}

export function unescaped(name: string): string {
  return decodeURIComponent(name);
}
