/**
 * Sessions of browsers: a token is exchanged for a cookie that scripts cannot read. The cookie holds a secret,
 * the store its hash and the token's id; so a token that is removed ends its sessions, and a logout ends one.
 */
import type { Records } from "holdfast";
import { randomText, sha256 } from "./hash.ts";

const PREFIX = "holdfast/server/sessions/";
export const SESSION_COOKIE = "holdfast_session";
export const SESSION_MS = 12 * 3_600_000;
const FORM = /^[A-Za-z0-9_-]{43}$/;

export interface Session {
  /** Null: the admin token of the options. */
  readonly tokenId: string | null;
  /** Of that token, as it was then: another one ends the session. Absent: of a token of the store. */
  readonly proof?: string;
  readonly endsAt: number;
}

export class Sessions {
  readonly #records: Records;
  readonly #now: () => number;

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** A new secret for each login. */
  async begin(tokenId: string | null, adminHash: string | null = null): Promise<string> {
    const secret = randomText(32);
    const proof = tokenId === null && adminHash !== null ? proofOf(secret, adminHash) : undefined;
    const endsAt = this.#now() + SESSION_MS;
    const session: Session = { tokenId, endsAt, ...(proof !== undefined && { proof }) };
    const value = JSON.stringify(session);
    await this.#records.swap([{ key: keyOf(secret), expect: null, value, ttlMs: SESSION_MS }]);
    return secret;
  }

  async find(secret: string): Promise<Session | null> {
    if (!FORM.test(secret)) return null;
    const [found] = await this.#records.read([keyOf(secret)]);
    const session = found ? (JSON.parse(found.value) as Session) : null;
    return session && session.endsAt > this.#now() ? session : null;
  }

  /** Those of them that are still good, in one read. */
  async living(secrets: Iterable<string>): Promise<ReadonlySet<string>> {
    const all = [...new Set(secrets)];
    const found = all.length === 0 ? [] : await this.#records.read(all.map(keyOf));
    const isGood = (at: number) => {
      const one = found[at];
      return one != null && (JSON.parse(one.value) as Session).endsAt > this.#now();
    };
    return new Set(all.filter((_, at) => isGood(at)));
  }

  async end(secret: string): Promise<void> {
    if (!FORM.test(secret)) return;
    const [found] = await this.#records.read([keyOf(secret)]);
    if (!found) return;
    const { key, version } = found;
    await this.#records.swap([{ key, expect: version, value: null, ttlMs: null }]);
  }
}

/** With the session's own secret in it, so that what is stored says nothing of the token. */
export function proofOf(secret: string, adminHash: string): string {
  return sha256(`${secret} ${adminHash}`).toString("hex");
}

function keyOf(secret: string): string {
  return PREFIX + sha256(secret).toString("hex");
}

export function sessionCookie(
  secret: string | null,
  { path, isSecure }: { readonly path: string; readonly isSecure: boolean },
): string {
  const age = secret === null ? 0 : SESSION_MS / 1000;
  return (
    `${SESSION_COOKIE}=${secret ?? ""}; Path=${path || "/"}; Max-Age=${age}; HttpOnly; SameSite=Strict` +
    (isSecure ? "; Secure" : "")
  );
}

export function sessionOf(request: Request): string | null {
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === SESSION_COOKIE && value) return value;
  }
  return null;
}
