/** Finds out who calls: by token, JSON Web Token, session cookie, or a function of the user's own. */
import type { IncomingMessage } from "node:http";
import { HttpError, tooMany } from "../http/http-error.ts";
import { addressKey, isLoopback } from "../http/client-address.ts";
import { RecentCounts } from "../http/recent-counts.ts";
import { checkUser, type AuthOptions } from "../server-options.ts";
import type { Caller, Role } from "./caller.ts";
import { matches, sha256 } from "./hash.ts";
import { isJwt, jwtCheck, type JwtCheck } from "./jwt.ts";
import { proofOf, sessionOf, type Sessions } from "./sessions.ts";
import { hasTokenForm, type TokenRecord, type Tokens } from "./tokens.ts";

/** The sixth wrong one in a minute is not looked at any more. */
const MOST_WRONG = 5;
const WRONG_WITHIN_MS = 60_000;
const MOST_HEADER = 8 * 1024;
/** Who is found by a function is asked for again by then: only a new request can be asked about. */
const FOUND_FOR_MS = 60_000;
const ADMIN = "admin token";

export interface Credentials {
  readonly request: Request;
  readonly address: string;
  readonly incoming: IncomingMessage | undefined;
  /** Whom a caller without credentials on this machine is taken for. */
  readonly anonymous: Role | null;
}

/** Someone who stays. */
export interface LetIn {
  readonly caller: Caller;
  /** The secret of the session that let the caller in; null: none did. */
  readonly session: string | null;
}

export class Authenticator {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly #options: AuthOptions;
  readonly #adminHash: string | null;
  readonly #jwt: JwtCheck | null;
  readonly #wrong: RecentCounts;
  /** From where the admin token came lately. */
  readonly #admins: RecentCounts;

  constructor(
    options: AuthOptions,
    parts: { readonly tokens: Tokens; readonly sessions: Sessions; readonly now: () => number },
  ) {
    this.#options = options;
    this.tokens = parts.tokens;
    this.sessions = parts.sessions;
    const { adminToken, jwt } = options;
    this.#adminHash = adminToken === undefined ? null : sha256(adminToken).toString("hex");
    this.#jwt = jwt === undefined ? null : jwtCheck(jwt);
    this.#wrong = new RecentCounts({ withinMs: WRONG_WITHIN_MS, now: parts.now });
    this.#admins = new RecentCounts({ withinMs: WRONG_WITHIN_MS, now: parts.now });
  }

  /** Without tokens in the store: does anything here know a caller? */
  get isConfigured(): boolean {
    const { adminToken, jwt, user } = this.#options;
    return adminToken !== undefined || jwt !== undefined || user !== undefined;
  }

  async authenticate(given: Credentials): Promise<Caller> {
    const { request, address, anonymous } = given;
    if (this.#options.only !== "user") {
      const header = request.headers.get("authorization");
      if (header !== null) return this.#byHeader(header, address);
      const cookie = sessionOf(request);
      const caller = cookie === null ? null : await this.#bySession(cookie);
      if (caller) return caller;
    }
    const known = await this.#byFunction(given);
    if (known) return known;
    const isOpen = anonymous !== null && this.#options.only !== "user";
    if (isOpen && isFromHere(request, address)) {
      const by = "anonymous on this machine";
      const about = { role: anonymous, queues: null, tokenId: null, goodForMs: null } as const;
      return { by, key: by, via: "anonymous", ...about };
    }
    throw unauthenticated();
  }

  /** The secret of a new session; it lasts as long as the token that it was begun with. */
  async beginSession({ tokenId }: Caller): Promise<string> {
    return this.sessions.begin(tokenId, this.#adminHash);
  }

  /** Of those who were let in before: whose token or session has ended since. Two reads, however many they are. */
  async ended<One extends LetIn>(all: readonly One[]): Promise<readonly One[]> {
    const [tokens, sessions] = await Promise.all([
      this.tokens.living(all.flatMap(({ caller }) => caller.tokenId ?? [])),
      this.sessions.living(all.flatMap(({ session }) => session ?? [])),
    ]);
    return all.filter(({ caller: { tokenId }, session }) => {
      const isTokenOver = tokenId !== null && !tokens.has(tokenId);
      return isTokenOver || (session !== null && !sessions.has(session));
    });
  }

  async #byFunction({ request, incoming }: Credentials): Promise<Caller | null> {
    const user = checkUser(await this.#options.user?.(request, incoming));
    if (!user) return null;
    const by = `user ${user.name}`;
    const queues = user.queues === undefined ? null : new Set(user.queues);
    const about = { role: user.role, queues, tokenId: null, goodForMs: FOUND_FOR_MS };
    return { by, key: by, via: "function", ...about };
  }

  async #byHeader(header: string, address: string): Promise<Caller> {
    if (header.length > MOST_HEADER) {
      throw new HttpError(431, "header_too_large", "the authorization header is too long");
    }
    const key = addressKey(address);
    const { count, freeInMs } = this.#wrong.of(key);
    const isLimited = count >= MOST_WRONG;
    const given = /^bearer +(\S+)$/i.exec(header)?.[1] ?? "";
    // To compare is to answer a guess: where there were too many, only from where it was right a moment ago.
    const mayCompare = !isLimited || this.#admins.of(key).count > 0;
    if (mayCompare && this.#isAdmin(given)) {
      this.#admins.add(key, 1);
      return adminCaller();
    }
    // What no store could have is wrong now: of many that come together only the first are compared.
    const isHopeless = !hasTokenForm(given) && !(this.#jwt && isJwt(given));
    if (isHopeless && !isLimited) this.#wrong.add(key, MOST_WRONG);
    // Where no address is known (`fetch`), one stranger must not shut out all who have a token.
    const caller = await this.#byToken(given, !isLimited || address === "");
    if (caller) return caller;
    if (isLimited) {
      // It was not looked at, so it is not known to be wrong: counted, a good one that comes back would lock itself out.
      throw tooMany("too_many_wrong_tokens", "too many wrong tokens from this address", freeInMs);
    }
    if (!isHopeless) this.#wrong.add(key, MOST_WRONG);
    throw unauthenticated();
  }

  #isAdmin(given: string): boolean {
    return this.#adminHash !== null && matches(given, this.#adminHash);
  }

  /** Each way takes the same steps for whatever is wrong. */
  async #byToken(given: string, mayRead: boolean): Promise<Caller | null> {
    if (this.#jwt && isJwt(given)) return mayRead ? this.#jwt(given) : null;
    const token = await this.tokens.check(given, { mayRead });
    return token && callerOf(token, "token");
  }

  async #bySession(secret: string): Promise<Caller | null> {
    const session = await this.sessions.find(secret);
    if (!session) return null;
    if (session.tokenId === null) {
      const isSame = this.#adminHash !== null && session.proof === proofOf(secret, this.#adminHash);
      return isSame ? { ...adminCaller(), via: "session" } : null;
    }
    const token = await this.tokens.get(session.tokenId);
    return token && callerOf(token, "session");
  }
}

/** From this machine itself: not through a proxy on it, nor from a page whose name was bent to this address. */
function isFromHere(request: Request, address: string): boolean {
  const { hostname } = new URL(request.url);
  const isForwarded = request.headers.has("x-forwarded-for") || request.headers.has("forwarded");
  return isLoopback(address) && isLoopback(hostname.replace(/^\[|\]$/g, "")) && !isForwarded;
}

function adminCaller(): Caller {
  const about = { queues: null, tokenId: null, goodForMs: null } as const;
  return { by: ADMIN, role: "admin", key: ADMIN, via: "token", ...about };
}

function callerOf(token: TokenRecord, via: Caller["via"]): Caller {
  const { id, name, role, queues } = token;
  const by = `token ${id}${name === "" ? "" : ` (${name})`}`;
  const about = { role, queues: queues && new Set(queues), tokenId: id, goodForMs: null };
  return { by, key: `token ${id}`, via, ...about };
}

function unauthenticated(): HttpError {
  return new HttpError(
    401,
    "unauthenticated",
    "send a token in the header Authorization, as a bearer",
    {
      headers: { "www-authenticate": "Bearer" },
    },
  );
}
