/**
 * Values to JSON text and back. What every store can give back unchanged is written; what JSON
 * would change or drop in silence (NaN to null, a Map to {}, an undefined item to null) is refused
 * with the path to it.
 *
 * Enqueue waits for this, so ordinary payloads take a short way: one walk that only asks "is this
 * plain?", then `JSON.stringify`. Whatever the walk does not know for certain takes the careful
 * way: a second walk (plain-copy.ts) that copies, calls `toJSON` once, and knows the path.
 */
import { InvalidPayloadError } from "./errors.ts";
import { isPlainObject, NODE_WEIGHT, plainCopy, tooLarge, type CopyLimits } from "./plain-copy.ts";
import { findText } from "./value-path.ts";

export interface JsonLimits {
  /** How messages call the value: "payload". */
  readonly what: string;
  /** Of the UTF-8 form. */
  readonly maxBytes: number;
  /** How many objects and arrays may be nested. Default 64. */
  readonly maxDepth?: number;
}

export const MAX_DEPTH = 64;

export function encodeJson(value: unknown, limits: JsonLimits): string {
  return encodeStored(value, limits).json;
}

/** The text, and the value that it gives back: the same one, unless JSON makes another of it. */
export function encodeStored(
  value: unknown,
  limits: JsonLimits,
): { readonly json: string; readonly stored: unknown } {
  const { what, maxBytes, maxDepth = MAX_DEPTH } = limits;
  const bounds = { what, maxBytes, maxDepth };
  const stored = isSurelyPlain(value, bounds) ? value : plainCopy(value, bounds);
  const json = stringify(stored, bounds);
  // JSON.stringify escapes exactly what we look for, and ordinary text has no \u at all. A payload
  // may also contain the letters "\u0000" themselves, hence the second look inside.
  if (json.includes("\\u") && /\\u(?:0000|d)/.test(json)) refuseBrokenText(json, what);
  // No character takes more than 3 bytes per UTF-16 unit, so most texts need no counting.
  if (json.length * 3 > maxBytes) {
    const bytes = byteLength(json);
    if (bytes > maxBytes) throw tooLarge(bounds, String(bytes));
  }
  return { json, stored };
}

export function decodeJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    // Without the cause: V8's own words quote the text, and messages never contain a payload.
    throw new InvalidPayloadError("what is stored is not JSON: was it written by other means?");
  }
}

/** The same text for equal values: object keys in the order of their code units, at every level. */
export function canonicalJson(json: string): string {
  return canonical(decodeJson(json));
}

/** In UTF-8. A lone surrogate counts as the replacement character that would be written for it. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else {
      bytes += 2;
      // A pair is 4 bytes in 2 units: what the first unit counted is enough for the second.
      if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(index + 1))) index++;
    }
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function isSurelyPlain(value: unknown, limits: CopyLimits): boolean {
  const budget = { left: limits.maxBytes * NODE_WEIGHT };
  try {
    if (walk(value, limits.maxDepth, budget)) return true;
  } catch {
    // A getter or a proxy that throws: the careful walk says where.
  }
  if (budget.left < 0) throw tooLarge(limits, `more than ${limits.maxBytes}`);
  return false;
}

/**
 * True only if JSON.stringify alone writes the value as it is. False means "look closer", not
 * "bad". Builds nothing, and calls nothing of the caller's but getters. `for…in` and the test for a
 * key `toJSON` are here for speed: with `Object.keys` and a lookup of `value.toJSON` this walk took
 * three times as long.
 */
function walk(value: unknown, depthLeft: number, budget: { left: number }): boolean {
  if ((budget.left -= NODE_WEIGHT) < 0) return false;
  switch (typeof value) {
    case "string":
      return (budget.left -= value.length) >= 0;
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return true;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depthLeft === 0) return false;
  if (Array.isArray(value)) {
    if ("toJSON" in value) return false;
    for (let index = 0; index < value.length; index++) {
      if (!walk(value[index], depthLeft - 1, budget)) return false;
    }
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key in value) {
    if (key === "__proto__" || key === "toJSON") return false;
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    budget.left -= key.length;
    if (!walk(item, depthLeft - 1, budget)) return false;
  }
  return true;
}

function stringify(value: unknown, limits: CopyLimits): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    // The longest string there can be, half a gigabyte, was not long enough.
    if (cause instanceof RangeError) throw tooLarge(limits, "far too many");
    throw new InvalidPayloadError(`${limits.what} changed while it was read: give a plain copy`, {
      cause,
    });
  }
}

function refuseBrokenText(json: string, what: string): void {
  const found = findText(
    JSON.parse(json),
    what,
    (text) => text.includes("\0") || !text.isWellFormed(),
  );
  if (found === null) return;
  throw new InvalidPayloadError(
    `${found} contains a NUL character or half of a surrogate pair, which not every store can ` +
      `keep: clean the text (toWellFormed), or encode bytes as base64`,
  );
}

function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let members = "";
  if (Array.isArray(value)) {
    for (const item of value) members += (members === "" ? "" : ",") + canonical(item);
    return `[${members}]`;
  }
  // Written by hand: an object cannot be built in this order, as JS puts keys like "10" first.
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key];
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonical(item)}`;
  }
  return `{${members}}`;
}
