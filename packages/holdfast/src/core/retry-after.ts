/** The Retry-After header of a reply, wherever a library keeps its headers. */
import { read } from "./error-chain.ts";
import { MAX_DURATION_MS } from "./option-checks.ts";

/** `Wed, 21 Oct 2015 07:28:00 GMT`, and nothing else that Date.parse would guess at. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Null if there is no such header, it makes no sense, or it is a date and `nowMs` is not given. */
export function retryAfterMs(headers: unknown, nowMs: number | undefined): number | null {
  const value = headerValue(headers);
  const text =
    typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  if (nowMs === undefined || !HTTP_DATE.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : bounded(at - nowMs);
}

/** Rounded up, as coming back a moment too early costs another refusal. */
function bounded(ms: number): number {
  return Math.ceil(Math.min(Math.max(ms, 0), MAX_DURATION_MS));
}

function headerValue(headers: unknown): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  try {
    const { get } = headers as { get?: unknown };
    // Headers, a Map, axios. A Map knows no upper and lower case, hence both spellings.
    if (typeof get === "function") {
      const found = (get.call(headers, "retry-after") ??
        get.call(headers, "Retry-After")) as unknown;
      if (found !== undefined && found !== null) return first(found);
    }
    for (const name of Object.keys(headers)) {
      if (name.toLowerCase() === "retry-after") return first(read(headers, name));
    }
  } catch {
    // A header that cannot be read was not sent.
  }
  return undefined;
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value;
}
