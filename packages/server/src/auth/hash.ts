/** Secrets are kept as hashes and compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

/** `hash` in hex. Two digests have one length, whatever was given. */
export function matches(secret: string, hash: string): boolean {
  const expected = Buffer.from(hash, "hex");
  const given = sha256(secret);
  return expected.length === given.length && timingSafeEqual(given, expected);
}

export function randomText(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}
