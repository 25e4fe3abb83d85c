/**
 * Text from elsewhere (error messages, log lines, bad names) made fit for every store, terminal
 * and page. It is cleaned, never refused: an error that cannot be recorded is lost twice.
 */
/// <reference lib="es2024.string" />

/** C0 and C1 controls and DEL, but not tab and line feed. PostgreSQL refuses NUL, terminals obey the rest. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Any control character, for text that is refused instead of cleaned. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const ELLIPSIS = "…";
const ELLIPSIS_BYTES = 3;

/** Never throws, whatever it is given. The result has at most `maxChars` UTF-16 units and is well formed. */
export function cleanText(text: unknown, maxChars: number): string {
  const raw = typeof text === "string" ? text : stringOf(text);
  // A message may be megabytes long: look only at as much as can matter.
  const head = raw.length > maxChars * 4 + 64 ? raw.slice(0, maxChars * 4 + 64) : raw;
  const clean = head.replace(UNPRINTABLE, "").toWellFormed();
  if (head === raw && clean.length <= maxChars) return clean;
  return cut(clean, maxChars - ELLIPSIS.length, maxChars);
}

/** Cuts at a whole character, so that the UTF-8 form has at most `maxBytes` bytes. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const withEllipsis = maxBytes - ELLIPSIS_BYTES;
  let bytes = 0;
  let room = 0;
  for (let index = 0; index < text.length;) {
    const code = text.codePointAt(index) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
    if (bytes > maxBytes) return withEllipsis < 0 ? "" : text.slice(0, room) + ELLIPSIS;
    index += code < 0x1_0000 ? 1 : 2;
    if (bytes <= withEllipsis) room = index;
  }
  return text;
}

export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** What a bad value looks like, short enough for a message. */
export function show(value: unknown, maxChars = 40): string {
  if (typeof value === "string") return `"${cleanText(value, maxChars)}"`;
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return Array.isArray(value) ? "an array" : "an object";
  if (typeof value === "function") return "a function";
  return cleanText(value, maxChars);
}

function cut(text: string, roomChars: number, maxChars: number): string {
  if (!(maxChars >= 1)) return "";
  const room = Math.floor(roomChars);
  const last = text.charCodeAt(room - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? room - 1 : room) + ELLIPSIS;
}

function stringOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    // An object without a prototype, a hostile toString, a revoked proxy.
    return "[unprintable]";
  }
}
