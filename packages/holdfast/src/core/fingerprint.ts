/**
 * The same for failures that a person would call the same: type, category, name and message of the error
 * without what differs each time (ids, numbers, addresses, quoted words, paths), and where it was thrown: the
 * first frames of the user's own code, by function and file, without line numbers. So it is the same on every
 * machine, in the next release and on the next day.
 */
export interface FailureWords {
  readonly type: string;
  readonly category: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

const FRAMES = 5;

export function fingerprintOf({ type, category, name, message, stack }: FailureWords): string {
  const words = [type, category, name, withoutDetails(message), ...framesOf(stack)];
  return hash(words.join("\n"));
}

/** In this order: what is longer and surer goes first. */
const DETAILS: readonly RegExp[] = [
  /"[^"\n]*"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)/g,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi,
  /[^\s@<>()"']+@[^\s@<>()"']+\.[a-z]{2,}/gi,
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi,
  /(?:\b[a-z]:)?(?:[\\/][\w.@~+-]+){2,}/gi,
  // Addresses of version 6, times of day; hosts with a port.
  /(?<!\w)(?:[0-9a-f]{0,4}:){2,}[0-9a-f]{0,4}/gi,
  /\b(?:[\w-]+\.)*[\w-]+:\d{2,5}\b/g,
  /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi,
  // Ids of any kind: letters and digits mixed, long enough not to be a word such as h264 or sha256.
  /\b(?=\w*\d)(?=\w*[a-z])\w{10,}\b/gi,
  /\b(?:[\w-]+\.)+(?:com|net|org|io|dev|internal|local|svc|eu|de)\b/gi,
  /\d+(?:[.,]\d+)*/g,
];

function withoutDetails(message: string): string {
  const bare = DETAILS.reduce((text, detail) => text.replace(detail, "#"), message);
  return bare
    .replace(/#(?:[\s,;:/.-]*#)+/g, "#")
    .replace(/\s+/g, " ")
    .trim();
}

/** `function@file`, from within the user's own code. */
function framesOf(stack: string): string[] {
  const frames: string[] = [];
  for (const line of stack.split("\n")) {
    const [, called = "", where = ""] =
      /^\s+at (?:async )?(?:(?:new )?(.+?) \()?(.+?):\d+:\d+\)?$/.exec(line) ?? [];
    if (where === "" || where.startsWith("node:") || where.includes("node_modules")) continue;
    const file = where.replace(/^.*[\\/]/, "").replace(/\.[cm]?[jt]sx?$/, "");
    frames.push(`${called.replace(/ \[as .+\]$/, "")}@${file}`);
    if (frames.length === FRAMES) break;
  }
  return frames;
}

/** FNV-1a, 64 bits. Short and stable, not secure: it groups failures in lists. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index++) {
    value ^= BigInt(text.charCodeAt(index));
    value = BigInt.asUintN(64, value * 0x100000001b3n);
  }
  return value.toString(16).padStart(16, "0");
}
