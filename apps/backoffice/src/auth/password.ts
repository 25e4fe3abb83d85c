/** Passwords as scrypt hashes: `scrypt$<salt>$<hash>`, both in base64url. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number }, Buffer>(
  scrypt,
);
/** About 50 ms and 16 MiB on a small machine: slow for a guesser, bearable for a login. */
const COST = { N: 16_384, r: 8, p: 1 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;
export const MOST_PASSWORD = 200;

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, COST);
  return `scrypt$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

/** For a user that is not there the same work is done: a guesser cannot tell by the clock who is. */
const NOBODY = `scrypt$${"A".repeat(22)}$${"A".repeat(43)}`;

/** `stored` null: always false, after the same time. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, salt = "", expected = ""] = (stored ?? NOBODY).split("$");
  const hash = await derive(password, Buffer.from(salt, "base64url"), HASH_BYTES, COST);
  const wanted = Buffer.from(expected, "base64url");
  const isSame = wanted.length === hash.length && timingSafeEqual(wanted, hash);
  return isSame && stored !== null;
}
