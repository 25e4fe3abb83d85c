/**
 * Thrown values, read without trust: anything can be thrown, also a proxy whose every property
 * throws. What describes a failure must not fail itself.
 */

/** As deep as anyone nests on purpose. */
const MAX_LINKS = 8;

/**
 * The error, its cause, the cause of that, and so on, each once. Of an AggregateError also its first
 * errors: Node reports a refused connection to a host with two addresses that way.
 */
export function errorChain(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && chain.length < MAX_LINKS) {
    const link = waiting.shift();
    if (chain.includes(link)) continue;
    chain.push(link);
    const cause = read(link, "cause");
    if (cause !== undefined && cause !== null) waiting.push(cause);
    for (const index of [0, 1]) {
      const inner = read(read(link, "errors"), index);
      if (typeof inner === "object" && inner !== null) waiting.push(inner);
    }
  }
  return chain;
}

/** A property, or undefined if there is none or it cannot be read. */
export function read(from: unknown, key: PropertyKey): unknown {
  if ((typeof from !== "object" && typeof from !== "function") || from === null) return undefined;
  try {
    return (from as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** A property that is a string, else "". */
export function readText(from: unknown, key: PropertyKey): string {
  const value = read(from, key);
  return typeof value === "string" ? value : "";
}
