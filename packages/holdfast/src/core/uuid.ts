/**
 * UUID version 7: 48 bits of time, then 74 random bits. Ids that begin with their time keep new
 * rows together in every index, and the client makes them, so a repeated insert is a duplicate.
 */

/** How many random bytes an id takes. */
export const UUID_RANDOM_BYTES = 10;

const DIGITS: readonly number[] = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const HYPHEN = "-".charCodeAt(0);
/** The character codes of the id that is being made. The hyphens stay where they are. */
const TEXT = Array.from({ length: 36 }, () => HYPHEN);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Lower case, from ten bytes of `random`. Made of character codes in one piece: a text that is put together
 * with `+` remains a tree of its parts until somebody reads it, which took five times as long.
 */
export function uuidV7(ms: number, random: Uint8Array, start = 0): string {
  // Too few bytes would make ids that collide. Better no id than a weak one.
  if (start + UUID_RANDOM_BYTES > random.length) {
    throw new RangeError(`uuidV7 needs ${UUID_RANDOM_BYTES} random bytes`);
  }
  // Bit operators see 32 bits only, so the 48 bits of time are cut in two by division.
  const high = Math.floor(ms / 0x1_0000);
  const low = ms - high * 0x1_0000;
  writeDigits(0, high >>> 16);
  writeDigits(4, high);
  writeDigits(9, low);
  writeDigits(14, 0x7000 | (wordAt(random, start) & 0x0fff));
  writeDigits(19, 0x8000 | (wordAt(random, start + 2) & 0x3fff));
  writeDigits(24, wordAt(random, start + 4));
  writeDigits(28, wordAt(random, start + 6));
  writeDigits(32, wordAt(random, start + 8));
  return String.fromCharCode(...TEXT);
}

/** The four hex digits of the lower 16 bits. */
function writeDigits(at: number, word: number): void {
  TEXT[at] = digit(word >>> 12);
  TEXT[at + 1] = digit(word >>> 8);
  TEXT[at + 2] = digit(word >>> 4);
  TEXT[at + 3] = digit(word);
}

function digit(nibble: number): number {
  return DIGITS[nibble & 0xf] as number;
}

function wordAt(bytes: Uint8Array, index: number): number {
  return ((bytes[index] as number) << 8) | (bytes[index + 1] as number);
}

/** Any version, lower case only: ids are compared as text, so there must be one spelling. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text);
}
