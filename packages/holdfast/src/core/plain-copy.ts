/**
 * The careful way to JSON: copies a value into plain data, calls every `toJSON` and getter exactly
 * once, and refuses what JSON cannot say, with the path to it and what to do instead.
 */
import { InvalidPayloadError, PayloadTooLargeError } from "./errors.ts";
import { formatPath, type PathPart } from "./value-path.ts";

export interface CopyLimits {
  /** How messages call the value. */
  readonly what: string;
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/**
 * Every value may spend `maxBytes * NODE_WEIGHT`: this much for each of its parts, and 1 for each
 * character. As every part takes at least one byte, whoever spends more is certainly too large. So
 * a text of a few megabytes still gets its exact size in the message, while a value that holds the
 * same array many times over (forty arrays in memory, a million million in JSON) is left early.
 */
export const NODE_WEIGHT = 16;

export function tooLarge(limits: CopyLimits, bytes: string): PayloadTooLargeError {
  return new PayloadTooLargeError(
    `${limits.what} takes ${bytes} bytes as JSON, ${limits.maxBytes} are allowed: ` +
      `store it elsewhere and put a reference to it in the job`,
  );
}

/** `{}`, `Object.create(null)`, or a plain object of another realm (a vm context, a test runner). */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf")
  );
}

export function plainCopy(value: unknown, limits: CopyLimits): unknown {
  const { what } = limits;
  const path: PathPart[] = [];
  const open = new Set<object>();
  let left = limits.maxBytes * NODE_WEIGHT;

  const copied = copy(value, "");
  if (copied === undefined) throw refuse("is undefined: use null if there is nothing to say");
  return copied;

  function copy(given: unknown, key: string): unknown {
    const item = unwrap(given, key);
    if (item !== undefined) spend(NODE_WEIGHT);
    switch (typeof item) {
      case "string":
        spend(item.length);
        return item;
      case "boolean":
      case "undefined":
        return item;
      case "number":
        if (Number.isFinite(item)) return item;
        throw refuse(`is ${item}, which JSON cannot write: use null or a string`);
      case "bigint":
        throw refuse("is a bigint, which JSON cannot write: use a string");
      case "function":
      case "symbol":
        throw refuse(`is a ${typeof item}, which JSON cannot write: leave it out`);
      case "object":
        return item === null ? null : copyObject(item, item === given);
    }
  }

  function copyObject(item: object, asGiven: boolean): unknown {
    if (open.has(item)) throw refuse("contains itself: break the cycle, for example with an id");
    if (open.size >= limits.maxDepth) {
      throw refuse(`is nested deeper than ${limits.maxDepth} levels: flatten it`);
    }
    open.add(item);
    const result = Array.isArray(item) ? copyArray(item) : copyMembers(item, asGiven);
    open.delete(item);
    return result;
  }

  function copyArray(items: readonly unknown[]): unknown[] {
    const result: unknown[] = [];
    const length = read(() => items.length);
    for (let index = 0; index < length; index++) {
      path.push(index);
      const inner = copy(
        read(() => items[index]),
        String(index),
      );
      if (inner === undefined) throw refuse("is undefined, which an array cannot keep: use null");
      result.push(inner);
      path.pop();
    }
    return result;
  }

  function copyMembers(item: object, asGiven: boolean): Record<string, unknown> {
    // An instance whose toJSON returned itself has said that its own members are its JSON.
    const saysSo =
      asGiven && typeof read(() => (item as { toJSON?: unknown }).toJSON) === "function";
    if (!read(() => isPlainObject(item)) && !saysSo) {
      throw refuse(`is ${describe(item)}, which JSON would not give back: ${remedy(item)}`);
    }
    const result: Record<string, unknown> = {};
    for (const key of read(() => Object.keys(item))) {
      path.push(key);
      if (key === "__proto__") throw refuse("is a key that can poison prototypes: rename it");
      const inner = copy(
        read(() => (item as Record<string, unknown>)[key]),
        key,
      );
      path.pop();
      if (inner === undefined) continue;
      spend(key.length);
      result[key] = inner;
    }
    return result;
  }

  /** What JSON.stringify would look at: the value, or what its toJSON returns. */
  function unwrap(item: unknown, key: string): unknown {
    if (typeof item !== "object" || item === null) return item;
    if (ArrayBuffer.isView(item)) {
      // Also a Buffer, although it has a toJSON: nobody wants bytes back as {type, data: [1, 2, …]}.
      throw refuse("is binary data: encode it as base64 text");
    }
    const toJson = read(() => (item as { toJSON?: unknown }).toJSON);
    if (typeof toJson !== "function") return item;
    if (read(() => item instanceof Date && Number.isNaN(item.getTime()))) {
      throw refuse("is an invalid Date, which JSON would write as null");
    }
    return read(() => toJson.call(item, key) as unknown);
  }

  function spend(weight: number): void {
    left -= weight;
    if (left < 0) throw tooLarge(limits, `more than ${limits.maxBytes}`);
  }

  function read<T>(get: () => T): T {
    try {
      return get();
    } catch (cause) {
      throw new InvalidPayloadError(
        `${formatPath(what, path)} cannot be read: its getter, proxy or toJSON throws`,
        { cause },
      );
    }
  }

  function refuse(problem: string): InvalidPayloadError {
    return new InvalidPayloadError(`${formatPath(what, path)} ${problem}`);
  }
}

function describe(item: object): string {
  try {
    const constructor: unknown = item.constructor;
    const name = typeof constructor === "function" ? constructor.name : "";
    return name === "" ? "not a plain object" : `an instance of ${name.slice(0, 40)}`;
  } catch {
    return "not a plain object";
  }
}

function remedy(item: object): string {
  if (item instanceof Map) return "use Object.fromEntries(map)";
  if (item instanceof Set) return "use [...set]";
  return "give a plain object, or add a toJSON method";
}
