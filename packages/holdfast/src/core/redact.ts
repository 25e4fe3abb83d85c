/**
 * What must not be read by everybody who may look: secrets in payloads, results, messages and stacks. One
 * function for the ledger, logs, alerts and every answer of an API. A job's own payload is never changed.
 *
 * In values a key whose name contains one of the words hides what is under it, at any depth. In text there are
 * no keys: there `Bearer …`, JSON Web Tokens and the passwords of URLs are hidden.
 */
import { byteLength } from "./json-text.ts";
import { checkOptions } from "./option-checks.ts";
import { cutToBytes } from "./text.ts";

export const REDACTED = "[REDACTED]";
export const SENSITIVE_KEYS = ["password", "token", "secret", "key", "authorization"] as const;

export interface RedactOptions {
  /** Further words: any key that contains one of them, in any case. */
  readonly keys?: readonly string[] | undefined;
  /** Asked after the keys were hidden; what it returns is shown. If it throws, nothing is. */
  readonly value?: ((value: unknown) => unknown) | undefined;
}

/** Scheme and credentials of a header, in any case. */
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi;
/** Three parts, the first of which is the base64 of `{"`. */
const JWT = /\beyJ[\w-]*\.[\w-]+\.[\w-]*/g;
/** `scheme://user:password@`: the host must be left to read. */
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:@/]*):[^\s@/]+@/gi;

export class Redactor {
  readonly #words: readonly string[];
  readonly #custom: RedactOptions["value"];
  readonly #onTrouble: (error: unknown) => void;

  /** `onTrouble` hears of a custom redactor that threw. */
  constructor(options: RedactOptions = {}, onTrouble: (error: unknown) => void = () => {}) {
    checkOptions("Redactor", options, ["keys", "value"]);
    this.#words = [...SENSITIVE_KEYS, ...(options.keys ?? [])].map((word) => word.toLowerCase());
    this.#custom = options.value;
    this.#onTrouble = onTrouble;
  }

  /** A copy; what was given stays as it is. */
  value(value: unknown): unknown {
    try {
      const hidden = this.#hidden(value);
      return this.#custom ? this.#custom(hidden) : hidden;
    } catch (error) {
      this.#onTrouble(error);
      return REDACTED;
    }
  }

  /** For messages, stacks and log lines. */
  text(text: string): string {
    return text
      .replace(URL_PASSWORD, `$1:${REDACTED}@`)
      .replace(BEARER, `$1 ${REDACTED}`)
      .replace(JWT, REDACTED);
  }

  /** JSON text in, JSON text out. Past `maxBytes` the head of it remains, as `{ "truncated": … }`. */
  json(json: string, maxBytes: number): string {
    const redacted = this.#redactedJson(json);
    // No character of a text takes more than three bytes.
    if (redacted.length * 3 <= maxBytes || byteLength(redacted) <= maxBytes) return redacted;
    // Quoting may double it.
    return JSON.stringify({ truncated: cutToBytes(redacted, Math.floor(maxBytes / 2)) });
  }

  hides(key: string): boolean {
    const lower = key.toLowerCase();
    return this.#words.some((word) => lower.includes(word));
  }

  #redactedJson(json: string): string {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      // Written by other means: it cannot be told what is in it.
      return JSON.stringify(REDACTED);
    }
    return JSON.stringify(this.value(value)) ?? "null";
  }

  #hidden(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#hidden(item));
    return Object.fromEntries(
      Object.entries(value).map(([key, under]) => [
        key,
        this.hides(key) ? REDACTED : this.#hidden(under),
      ]),
    );
  }
}
