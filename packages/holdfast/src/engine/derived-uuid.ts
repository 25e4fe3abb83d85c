/**
 * An id that follows from what it names, so that a thing which is written again is the same thing: version 8 of
 * RFC 9562, from a SHA-256 of the words.
 */
import { createHash } from "node:crypto";

export function derivedUuid(...words: readonly (string | number)[]): string {
  const digest = createHash("sha256").update(words.join("\n")).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString("hex");
  return [
    ...[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)],
    hex.slice(20, 32),
  ].join("-");
}
