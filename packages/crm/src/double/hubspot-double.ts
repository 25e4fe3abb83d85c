/**
 * A strict local HubSpot over real HTTP, for tests: it keeps objects, validates paths, bodies, property types and
 * scopes, limits the rate, lets its search index lag, and has trouble on demand. What it does not know it refuses.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { errorAnswer, missingScopes, tooMany, unauthorized, type Answer } from "./answer.ts";
import { Faults, type Fault } from "./faults.ts";
import { Portal, type PortalObject } from "./portal.ts";
import type { ObjectType } from "./portal-properties.ts";
import { RateWindows, type RateLimits } from "./rate-windows.ts";
import { ALL_SCOPES, routeOf, type Asked } from "./routes.ts";

export interface DoubleOptions {
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /** What it takes as credentials. Default `pat-eu1-double`. */
  readonly token?: string | undefined;
  /** Default: all that there are. */
  readonly scopes?: readonly string[] | undefined;
  readonly limits?: RateLimits | undefined;
  /** How far the search index is behind. Default 5 s. */
  readonly searchLagMs?: number | undefined;
  readonly portalId?: number | undefined;
  /** Of the account. Default `UTC`. */
  readonly timeZone?: string | undefined;
  /** Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export interface SeenRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** Null: the connection was broken. */
  readonly status: number | null;
  /** The portal has changed, or could have. */
  readonly isApplied: boolean;
  readonly fault: Fault["kind"] | null;
  readonly correlationId: string;
}

const MOST_BYTES = 10 * 1024 * 1024;

export class HubSpotDouble {
  readonly url: string;
  readonly token: string;
  readonly portal: Portal;
  readonly faults = new Faults();
  /** Every request that came, in its order. */
  readonly requests: SeenRequest[] = [];
  readonly #close: () => Promise<void>;
  readonly #windows: RateWindows;

  /** @internal Use `hubspotDouble`. */
  constructor(
    url: string,
    options: { readonly token: string; readonly portal: Portal; readonly windows: RateWindows },
    close: () => Promise<void>,
  ) {
    this.url = url;
    this.token = options.token;
    this.portal = options.portal;
    this.#windows = options.windows;
    this.#close = close;
  }

  objects(type: ObjectType): readonly PortalObject[] {
    return this.portal.all(type);
  }

  contact(email: string): PortalObject | null {
    return this.portal.find("contacts", email, "email");
  }

  /** The daily limit begins anew. */
  newDay(): void {
    this.#windows.newDay();
  }

  /** The most requests that came within any window of this length. */
  busiest(windowMs: number): number {
    const times = this.requests.map(({ at }) => at).toSorted((a, b) => a - b);
    let most = 0;
    for (let from = 0, to = 0; to < times.length; to += 1) {
      while (times[to]! - times[from]! >= windowMs) from += 1;
      most = Math.max(most, to - from + 1);
    }
    return most;
  }

  close(): Promise<void> {
    return this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export async function hubspotDouble(options: DoubleOptions = {}): Promise<HubSpotDouble> {
  const { port = 0, token = "pat-eu1-double", scopes = ALL_SCOPES, now = Date.now } = options;
  const { searchLagMs = 5_000, portalId = 4242, timeZone = "UTC" } = options;
  const windows = new RateWindows(options.limits ?? {}, now);
  const portal = new Portal(now);
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  const double = new HubSpotDouble(`http://127.0.0.1:${own}`, { token, portal, windows }, close);
  return double;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = now();
    const url = new URL(request.url ?? "/", "http://double");
    const { method = "GET" } = request;
    const fault = double.faults.take({ method, path: url.pathname });
    const text = await bodyOf(request);
    const correlationId = randomUUID();
    const json = jsonOf(text);
    const note = (status: number | null, isApplied: boolean) =>
      double.requests.push({
        ...{ at, method, path: url.pathname, body: json, status, isApplied },
        ...{ fault: fault?.kind ?? null, correlationId },
      });
    if (fault?.kind === "reset" && fault.when !== "after") {
      note(null, false);
      request.socket.destroy();
      return;
    }
    const asked = { method, path: url.pathname, query: url.searchParams, body: json };
    const before = early(fault);
    const { answer: made, isApplied } = before
      ? { answer: before, isApplied: false }
      : judged(request, asked, fault);
    if (fault?.kind === "reset") {
      note(null, isApplied);
      request.socket.destroy();
      return;
    }
    const late = fault?.kind === "status" && fault.when === "after";
    const told = late ? serverError(fault.status) : made;
    note(told.status, isApplied);
    if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.ms));
    send(response, told, correlationId, {
      isPage: fault?.kind === "not_json",
      headers: url.pathname.endsWith("/search") ? {} : windows.headers(),
    });
  }

  function judged(
    request: IncomingMessage,
    asked: Asked,
    fault: Fault | null,
  ): { readonly answer: Answer; readonly isApplied: boolean } {
    const not = (refusal: Answer) => ({ answer: refusal, isApplied: false });
    const route = routeOf(asked);
    const { authorization = "" } = request.headers;
    if (authorization !== `Bearer ${token}`) return not(unauthorized());
    if (route === null) {
      const message = `There is no resource ${asked.path}.`;
      return not(errorAnswer(404, { message, category: "OBJECT_NOT_FOUND" }));
    }
    if (route === "method") {
      const message = `${asked.method} is not allowed here.`;
      return not(errorAnswer(405, { message, category: "METHOD_NOT_ALLOWED" }));
    }
    const policy = windows.take(route.isSearch);
    if (policy !== null) return not(tooMany(policy));
    const lacking = route.scopes.filter((scope) => !scopes.includes(scope));
    if (lacking.length > 0) return not(missingScopes(lacking));
    const hasBody = ["POST", "PATCH"].includes(asked.method);
    if (hasBody && !/^application\/json\b/.test(request.headers["content-type"] ?? "")) {
      const message = "Content-Type must be application/json.";
      return not(errorAnswer(415, { message, category: "UNSUPPORTED_MEDIA_TYPE" }));
    }
    const failing = fault?.kind === "partial" ? fault.inputs : [];
    const setting = { portal, searchLagMs, portalId, timeZone, failing };
    const made = route.run(asked, setting);
    return { answer: made, isApplied: made.status < 300 };
  }
}

/** What is answered in front of the portal. */
function early(fault: Fault | null): Answer | null {
  switch (fault?.kind) {
    case "rate_limit":
      return tooMany(fault.policy ?? "TEN_SECONDLY_ROLLING", fault.retryAfterS);
    case "status":
      return fault.when === "after" ? null : serverError(fault.status);
    case "not_json":
      return { status: fault.status ?? 502, body: null };
    case "unauthorized":
      return unauthorized();
    case "missing_scopes":
      return missingScopes(fault.scopes);
    default:
      return null;
  }
}

function serverError(status: number): Answer {
  return errorAnswer(status, { message: "internal error", category: "INTERNAL_ERROR" });
}

function send(
  response: ServerResponse,
  { status, body, headers = {} }: Answer,
  correlationId: string,
  how: { readonly isPage: boolean; readonly headers: Readonly<Record<string, string>> },
): void {
  if (how.isPage) {
    response.writeHead(status, { "content-type": "text/html" });
    response.end("<html><body>Something went wrong.</body></html>");
    return;
  }
  const shared = { "x-hubspot-correlation-id": correlationId, ...how.headers, ...headers };
  if (body === null) {
    response.writeHead(status, shared).end();
    return;
  }
  const isError = status >= 400;
  const told = isError ? { ...(body as object), correlationId } : body;
  response.writeHead(status, { ...shared, "content-type": "application/json;charset=utf-8" });
  response.end(JSON.stringify(told));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error("the body is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Undefined: none, or not JSON. */
function jsonOf(text: string): unknown {
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
