/**
 * Bearer tokens, `hf_<id>_<secret>`. Only hashes are stored, in records of the ledger's store. A token is looked
 * up by its id and known for some seconds; while the store is away it stays known for a minute, so that an
 * outage locks no caller out.
 */
import { randomBytes } from "node:crypto";
import { InvalidOptionError, type Records } from "holdfast";
import { HttpError } from "../http/http-error.ts";
import { isStoreAway } from "../http/error-answer.ts";
import { matches, randomText, sha256 } from "./hash.ts";
import { NAME_PATTERN } from "../routes/words.ts";
import { isRole, type Role } from "./caller.ts";

const PREFIX = "holdfast/server/tokens/";
const FORM = /^hf_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
const FRESH_MS = 5_000;
const KNOWN_MS = 60_000;
const MOST_KNOWN = 1_000;
const PER_PAGE = 200;
/** A wrong token of any form costs what a wrong secret costs: one read, one comparison. */
const NO_ID = "none";
const NO_HASH = sha256("no token has this hash").toString("hex");

export interface TokenRecord {
  readonly id: string;
  readonly hash: string;
  readonly role: Role;
  readonly queues: readonly string[] | null;
  readonly name: string;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly expiresAt: string | null;
}

export interface NewToken {
  readonly role: Role;
  readonly queues: readonly string[] | null;
  readonly name: string;
  readonly createdBy: string;
  readonly expiresAt: Date | null;
}

export function hasTokenForm(given: string): boolean {
  return FORM.test(given);
}

function checkNewToken(given: unknown): void {
  const { role, queues, name, createdBy, expiresAt } = Object(given) as Partial<NewToken>;
  const isName = (one: unknown) => typeof one === "string" && NAME_PATTERN.test(one);
  const isList = Array.isArray(queues) && queues.every((queue) => isName(queue));
  const isTime = expiresAt === null || expiresAt instanceof Date;
  const isNamed = typeof name === "string" && typeof createdBy === "string";
  if (isRole(role) && (queues === null || isList) && isNamed && isTime) return;
  throw new InvalidOptionError(
    "a token is made of { role, queues, name, createdBy, expiresAt }: a role is viewer, operator or admin, queues is a list of names or null, expiresAt a Date or null",
  );
}

export class Tokens {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly token: TokenRecord | null; readonly at: number }>();

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Its secret is in the answer, and nowhere else ever again. */
  async create(given: NewToken): Promise<{ readonly token: TokenRecord; readonly secret: string }> {
    checkNewToken(given);
    if (given.expiresAt !== null && given.expiresAt.getTime() <= this.#now()) {
      throw new InvalidOptionError("a token must not be over when it is made: give it a later end");
    }
    const id = randomBytes(6).toString("hex");
    const secret = `hf_${id}_${randomText(32)}`;
    const { role, queues, name, createdBy, expiresAt } = given;
    const token: TokenRecord = {
      ...{ id, hash: sha256(secret).toString("hex"), role, queues, name, createdBy },
      createdAt: new Date(this.#now()).toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
    };
    const ttlMs = expiresAt === null ? null : Math.max(1, expiresAt.getTime() - this.#now());
    const value = JSON.stringify(token);
    const [result] = await this.#records.swap([{ key: PREFIX + id, expect: null, value, ttlMs }]);
    // The same value under this id: a reply was lost, and the first try was this one.
    if (!result?.swapped && result?.current?.value !== value) {
      throw new HttpError(409, "token_taken", "another token has this id: try again");
    }
    return { token, secret };
  }

  async list(): Promise<readonly TokenRecord[]> {
    const found: TokenRecord[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Records["scan"]>> = await this.#records.scan({
        ...{ prefix: PREFIX, limit: PER_PAGE, cursor },
      });
      found.push(...page.records.map(({ value }) => JSON.parse(value) as TokenRecord));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return found;
  }

  /** False: there was none. */
  async remove(id: string): Promise<boolean> {
    this.#known.delete(id);
    for (;;) {
      const [found] = await this.#records.read([PREFIX + id]);
      if (!found) return false;
      const change = { key: found.key, expect: found.version, value: null, ttlMs: null };
      const [result] = await this.#records.swap([change]);
      if (result?.swapped) return true;
    }
  }

  /** Null: it is wrong. `mayRead: false`: only those that are known here are looked at. */
  async check(given: string, { mayRead = true } = {}): Promise<TokenRecord | null> {
    const id = FORM.exec(given)?.[1] ?? NO_ID;
    const known = this.#known.get(id);
    if (known && this.#isWithin(known.at, FRESH_MS) && this.#fits(given, known.token)) {
      return known.token;
    }
    if (!mayRead) return null;
    const token = await this.#read(id);
    return this.#fits(given, token) ? token : null;
  }

  /** Of a session, whose token must still be there. */
  async get(id: string): Promise<TokenRecord | null> {
    const known = this.#known.get(id);
    const isFresh = known !== undefined && this.#isWithin(known.at, FRESH_MS);
    const token = isFresh ? known.token : await this.#read(id);
    return this.#isOver(token) ? null : token;
  }

  /** Those of them that are still good, in one read. */
  async living(ids: Iterable<string>): Promise<ReadonlySet<string>> {
    const keys = [...new Set(ids)].map((id) => PREFIX + id);
    const found = keys.length === 0 ? [] : await this.#records.read(keys);
    const tokens = found.map((one) => one && (JSON.parse(one.value) as TokenRecord));
    return new Set(tokens.flatMap((one) => (one === null || this.#isOver(one) ? [] : [one.id])));
  }

  async #read(id: string): Promise<TokenRecord | null> {
    const at = this.#now();
    try {
      const [found] = await this.#records.read([PREFIX + id]);
      const token = found ? (JSON.parse(found.value) as TokenRecord) : null;
      if (token) this.#remember(id, { token, at });
      else this.#known.delete(id);
      return token;
    } catch (error) {
      const known = this.#known.get(id);
      if (known && isStoreAway(error) && this.#isWithin(known.at, KNOWN_MS)) return known.token;
      throw error;
    }
  }

  /** A time that is yet to come is of a clock that was set back: nobody knows how long ago that was. */
  #isWithin(at: number, ms: number): boolean {
    const age = this.#now() - at;
    return age >= 0 && age < ms;
  }

  #remember(id: string, known: { readonly token: TokenRecord; readonly at: number }): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    if (this.#known.size <= MOST_KNOWN) return;
    const { value: first } = this.#known.keys().next();
    if (first !== undefined) this.#known.delete(first);
  }

  #fits(given: string, token: TokenRecord | null): boolean {
    return matches(given, token?.hash ?? NO_HASH) && !this.#isOver(token);
  }

  #isOver(token: TokenRecord | null): boolean {
    return (
      token === null || (token.expiresAt !== null && Date.parse(token.expiresAt) <= this.#now())
    );
  }
}
