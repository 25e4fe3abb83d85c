/**
 * UUID version 7: 48 bits of time, then 74 random bits. Ids that begin with their time keep new
 * rows together in every index, and the client makes them, so a repeated insert is a duplicate.
 */

/** Two hex digits for every byte: a lookup is several times faster than `toString(16)`. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `random` holds at least 10 bytes; the first 10 are used. Lower case. */
export function uuidV7(ms: number, random: Uint8Array): string {
  // Bit operators see 32 bits only, so the 48 bits of time are cut in two by division.
  const high = Math.floor(ms / 0x1_0000);
  const low = ms - high * 0x1_0000;
  return (
    hex(high >>> 24) +
    hex(high >>> 16) +
    hex(high >>> 8) +
    hex(high) +
    "-" +
    hex(low >>> 8) +
    hex(low) +
    "-" +
    hex(0x70 | (byteAt(random, 0) & 0x0f)) +
    hex(byteAt(random, 1)) +
    "-" +
    hex(0x80 | (byteAt(random, 2) & 0x3f)) +
    hex(byteAt(random, 3)) +
    "-" +
    hex(byteAt(random, 4)) +
    hex(byteAt(random, 5)) +
    hex(byteAt(random, 6)) +
    hex(byteAt(random, 7)) +
    hex(byteAt(random, 8)) +
    hex(byteAt(random, 9))
  );
}

/** Any version, lower case only: ids are compared as text, so there must be one spelling. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text);
}

function hex(byte: number): string {
  return HEX[byte & 0xff] as string;
}

function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index];
  // Too few bytes would make ids that collide. Better no id than a weak one.
  if (byte === undefined) throw new RangeError("uuidV7 needs 10 random bytes");
  return byte;
}
