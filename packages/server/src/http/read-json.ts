/**
 * The JSON of a request, read within bounds. Its size is counted while it comes, its bytes must be UTF-8, and
 * what could change a prototype when it is merged somewhere is refused. Of doubled keys the last one counts.
 */
import { HttpError } from "./http-error.ts";

const MOST_DEPTH = 64;
const MOST_VALUES = 200_000;

export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const bytes = await readBody(request, maxBytes);
  if (bytes === null) return undefined;
  checkContentType(request.headers.get("content-type"));
  return parseJson(decode(bytes));
}

/** Null: there is no body. */
async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | null> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return null;
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (;;) {
    // Who goes away in the middle of it is no trouble of ours.
    const { done, value } = await reader.read().catch(() => {
      throw badJson("the body ended before it was whole");
    });
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    parts.push(value);
  }
  if (length === 0) return null;
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts, length);
}

/** However it is spelt, it is JSON or it is refused: no other way leads past the schemas. */
function checkContentType(header: string | null): void {
  if (isJson(header)) return;
  throw new HttpError(
    ...([415, "unsupported_media_type", "send JSON: content-type: application/json"] as const),
  );
}

export function isJson(header: string | null): boolean {
  const [media = "", ...parameters] = (header ?? "").toLowerCase().split(";");
  const charset = parameters.map((part) => part.trim()).find((part) => part.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return media.trim() === "application/json" && isUtf8;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badJson("the body is not UTF-8");
  }
}

export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badJson("the body is not JSON");
  }
  checkValue(value);
  return value;
}

/** Without recursion: a deep value must not fill the stack before it is refused. */
function checkValue(root: unknown): void {
  let level: unknown[] = [root];
  let seen = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_DEPTH) {
      throw new HttpError(422, "too_deep", `the body is nested more than ${MOST_DEPTH} deep`);
    }
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      const under = Array.isArray(value) ? (value as unknown[]) : valuesOf(value);
      seen += under.length;
      if (seen > MOST_VALUES) {
        throw new HttpError(422, "too_many_values", `the body has more than ${MOST_VALUES} values`);
      }
      for (const one of under) if (typeof one === "object") next.push(one);
    }
    level = next;
  }
}

function valuesOf(value: object): unknown[] {
  const keys = Object.keys(value);
  for (const key of keys) {
    if (key === "__proto__") throw badJson("the body has a key __proto__");
    if (key !== "constructor") continue;
    const under: unknown = (value as Record<string, unknown>)[key];
    if (typeof under === "object" && under !== null && Object.hasOwn(under, "prototype")) {
      throw badJson("the body has a key constructor.prototype");
    }
  }
  return keys.map((key) => (value as Record<string, unknown>)[key]);
}

function badJson(message: string): HttpError {
  return new HttpError(400, "invalid_json", message);
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, "body_too_large", `the body has more than ${maxBytes} bytes`);
}
