/**
 * A small client of HubSpot's CRM. Objects are written by upserts under a unique property, so that nothing is made
 * twice however often a call is repeated; a plain create is not offered.
 */
import { InvalidOptionError } from "holdfast";
import { freeCalls, type Calls } from "../calls.ts";
import { checkWords } from "../check-words.ts";
import { HUBSPOT_URL, HUBSPOT_VERSION, OBJECTS, Paths, type HubSpotObject } from "./paths.ts";
import { IN_CALL, request, type HubSpotRequest, type RequestSettings } from "./request.ts";
import { PropertyRoom } from "./properties.ts";
import { upsertAll, type Upsert, type UpsertResult } from "./upsert.ts";

export interface HubSpotClientOptions {
  /** A service key, an app's token, or a function that gives one. Default: `HUBSPOT_TOKEN` of the environment. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Default `https://api.hubapi.com`. */
  readonly baseUrl?: string | undefined;
  /** Of the API, a date. Default `2026-09`. */
  readonly version?: string | undefined;
  /** Of one call. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Of the account: its daily limit ends at midnight there. Default: asked once. */
  readonly timeZone?: string | undefined;
  /** Tries in one call after a 429. Default: 5, from 1 s to 30 s. */
  readonly retry?: Partial<typeof IN_CALL> | undefined;
  /** What holds its calls back. Default: nothing. */
  readonly calls?: Calls | undefined;
}

export interface HubSpotRecord {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | null>>;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface HubSpotAccount {
  readonly portalId: number;
  readonly timeZone: string;
}

export interface SearchQuery {
  readonly filters: readonly {
    readonly propertyName: string;
    readonly operator: string;
    readonly value?: string;
    readonly values?: readonly string[];
  }[];
  readonly properties?: readonly string[];
  /** 1 to 200, default 100. */
  readonly limit?: number;
  readonly after?: string;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

const OPTIONS = ["token", "baseUrl", "version", "timeoutMs", "timeZone", "retry", "calls"];

export class HubSpotClient {
  readonly #settings: RequestSettings;
  readonly #paths: Paths;
  #timeZone: string | null;
  /** Properties: look, make, ensure. */
  readonly properties: PropertyRoom;

  constructor(options: HubSpotClientOptions = {}) {
    checkWords("new HubSpotClient", options, OPTIONS);
    const { baseUrl = HUBSPOT_URL, timeoutMs = 30_000, timeZone, calls = freeCalls } = options;
    this.#paths = new Paths(options.version ?? HUBSPOT_VERSION);
    this.#timeZone = timeZone === undefined ? null : checkZone(timeZone);
    const retry = { ...IN_CALL, ...options.retry };
    this.#settings = {
      ...{ baseUrl: checkUrl(baseUrl), timeoutMs, retry, calls, now: Date.now },
      token: tokenOf(options.token),
      timeZone: () => this.#timeZone ?? "UTC",
    };
    this.properties = new PropertyRoom(this, this.#paths);
  }

  /** Any call, with the client's token, patience and errors. */
  request(asked: HubSpotRequest): Promise<unknown> {
    return request(this.#settings, asked);
  }

  /** Makes or changes objects, by a unique property. One that is refused does not spoil the others. */
  async upsert(
    object: HubSpotObject,
    inputs: readonly Upsert[],
    options: CallOptions = {},
  ): Promise<UpsertResult[]> {
    checkObjectName(object);
    return upsertAll(
      (part) =>
        this.request({
          ...{ method: "POST", path: this.#paths.batch(object, "upsert") },
          ...{ body: { inputs: part }, signal: options.signal },
        }),
      inputs,
    );
  }

  /** The same for one: a refusal is thrown. */
  async upsertOne(
    object: HubSpotObject,
    input: Upsert,
    options: CallOptions = {},
  ): Promise<HubSpotRecord & { readonly isNew: boolean }> {
    const [result] = await this.upsert(object, [input], options);
    if (result?.ok) return result.record;
    throw result?.error ?? new InvalidOptionError("upsertOne takes one input");
  }

  /** Null if there is none. */
  async get(
    object: HubSpotObject,
    id: string,
    options: CallOptions & {
      readonly idProperty?: string;
      readonly properties?: readonly string[];
    } = {},
  ): Promise<HubSpotRecord | null> {
    checkObjectName(object);
    const { idProperty, properties = [], signal } = options;
    const query = {
      ...(idProperty !== undefined && { idProperty }),
      ...(properties.length > 0 && { properties: properties.join(",") }),
    };
    try {
      const path = this.#paths.objects(object, id);
      return (await this.request({ method: "GET", path, query, signal })) as HubSpotRecord;
    } catch (error) {
      if ((error as { status?: unknown }).status === 404) return null;
      throw error;
    }
  }

  /** The index lags behind writes: never decide by it whether to make something. */
  async search(
    object: HubSpotObject,
    { filters, properties = [], limit = 100, after }: SearchQuery,
    options: CallOptions = {},
  ): Promise<{ readonly results: readonly HubSpotRecord[]; readonly after: string | null }> {
    checkObjectName(object);
    const filterGroups = filters.length === 0 ? [] : [{ filters }];
    const found = (await this.request({
      ...{ method: "POST", path: this.#paths.search(object), kind: "search" },
      body: { filterGroups, properties, limit, ...(after !== undefined && { after }) },
      signal: options.signal,
    })) as { results: HubSpotRecord[]; paging?: { next?: { after?: string } } };
    return { results: found.results, after: found.paging?.next?.after ?? null };
  }

  /** Repeating it changes nothing. */
  async associate(
    from: { readonly object: HubSpotObject; readonly id: string },
    to: { readonly object: HubSpotObject; readonly id: string },
    options: CallOptions = {},
  ): Promise<void> {
    const path = this.#paths.association(from.object, from.id, to.object, to.id);
    await this.request({ method: "PUT", path, signal: options.signal });
  }

  async associated(
    from: { readonly object: HubSpotObject; readonly id: string },
    to: HubSpotObject,
    options: CallOptions = {},
  ): Promise<readonly string[]> {
    const path = this.#paths.associations(from.object, from.id, to);
    const found = (await this.request({ method: "GET", path, signal: options.signal })) as {
      results: readonly { readonly toObjectId: string | number }[];
    };
    return found.results.map(({ toObjectId }) => String(toObjectId));
  }

  async archive(object: HubSpotObject, id: string, options: CallOptions = {}): Promise<void> {
    checkObjectName(object);
    const path = this.#paths.objects(object, id);
    await this.request({ method: "DELETE", path, signal: options.signal });
  }

  /** The time zone of the account, if it was not given. */
  inZone(timeZone: string): void {
    this.#timeZone ??= checkZone(timeZone);
  }

  /** Whose token this is. Its time zone is kept from then on. */
  async account(options: CallOptions = {}): Promise<HubSpotAccount> {
    const asked = { method: "GET", path: this.#paths.account(), signal: options.signal } as const;
    const { portalId, timeZone } = (await this.request(asked)) as HubSpotAccount;
    this.#timeZone ??= isZone(timeZone) ? timeZone : "UTC";
    return { portalId, timeZone };
  }
}

function checkObjectName(object: unknown): void {
  if (OBJECTS.some((known) => known === object)) return;
  throw new InvalidOptionError(`an object of HubSpot is one of ${OBJECTS.join(", ")}`);
}

/** Its text is in no message: it would end up in a log. */
function tokenOf(given: HubSpotClientOptions["token"]): RequestSettings["token"] {
  if (typeof given === "function") return async () => checkToken(await given());
  const token = given ?? process.env["HUBSPOT_TOKEN"];
  if (token === undefined || token === "") {
    throw new InvalidOptionError(
      "HubSpot needs a token: give token, or set HUBSPOT_TOKEN in the environment",
    );
  }
  checkToken(token);
  return () => token;
}

function checkToken(token: unknown): string {
  if (typeof token === "string" && /^[\x21-\x7e]{8,4096}$/.test(token)) return token;
  throw new InvalidOptionError(
    "that is not a token of HubSpot: it has 8 characters or more and no spaces, for example pat-na1-…",
  );
}

function checkUrl(text: unknown): string {
  const url = typeof text === "string" ? URL.parse(text) : null;
  const isPlain = url !== null && url.username + url.password === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href;
  throw new InvalidOptionError("baseUrl is an address such as https://api.hubapi.com");
}

function checkZone(timeZone: unknown): string {
  if (isZone(timeZone)) return timeZone;
  throw new InvalidOptionError("timeZone is a name such as Europe/Berlin");
}

function isZone(timeZone: unknown): timeZone is string {
  try {
    return typeof timeZone === "string" && Boolean(new Intl.DateTimeFormat("en", { timeZone }));
  } catch {
    return false;
  }
}
