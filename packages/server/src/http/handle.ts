/**
 * One request on its way through a route: who calls, may they, what did they bring, what comes of it, what is
 * noted. The order matters: nothing of a body is read before its sender is known.
 */
import type { IncomingMessage } from "node:http";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { needRole, sees, type Caller } from "../auth/caller.ts";
import type { Who } from "../audit-desk.ts";
import { Reply, type Call, type Route } from "../routes/route.ts";
import { name, words } from "../routes/words.ts";
import type { Services } from "../services.ts";
import { errorAnswer } from "./error-answer.ts";
import { HttpError, notFound } from "./http-error.ts";
import { isJson, readJson } from "./read-json.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";
import { queryValues, validate } from "./validate.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 5_000;
const WRITE_FACTOR = 6;
/** Refusals for who asked, or how often; a body that does not fit is a mistake, not a trespass. */
const NOTED_REFUSALS = new Set([401, 403, 429]);
const NOBODY: Caller = {
  ...{ by: "anyone", role: "viewer", queues: null, key: "anyone", via: "anonymous", tokenId: null },
  goodForMs: null,
};

export interface Arrival {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly address: string;
  readonly incoming: IncomingMessage | undefined;
}

export async function handle(services: Services, one: Route, arrival: Arrival): Promise<Response> {
  const began = performance.now();
  const requestId = randomUUID();
  const who: { caller: Caller | null; readonly address: string } = {
    ...{ caller: null, address: arrival.address },
  };
  let response: Response;
  try {
    who.caller = await withinTime(services, one, callerOf(services, one, arrival));
    const running = run(services, one, arrival, who);
    // Text and streams take the time they take.
    const isTimed = one.answer instanceof z.ZodType;
    response = answer(
      one,
      services,
      await (isTimed ? withinTime(services, one, running) : running),
    );
  } catch (error) {
    response = refusal(error, services, { one, who, requestId });
  }
  response = await withoutBody(response, arrival.request);
  response.headers.set("x-request-id", requestId);
  services.metrics.answered(one, response.status, performance.now() - began);
  return response;
}

/** To a HEAD nobody reads a body: a stream that was opened for it would stay open for good. */
async function withoutBody(response: Response, { method }: Request): Promise<Response> {
  if (method !== "HEAD") return response;
  const { status, headers } = response;
  await response.body?.cancel();
  return new Response(null, { status, headers });
}

async function callerOf(
  { auth }: Services,
  one: Route,
  { request, address, incoming }: Arrival,
): Promise<Caller> {
  if (one.role === "anyone") return NOBODY;
  const anonymous = one.anonymous ?? null;
  return auth.authenticate({ request, address, incoming, anonymous });
}

async function run(services: Services, one: Route, arrival: Arrival, who: Who): Promise<unknown> {
  const { hf, options, audit } = services;
  const { request, params, address } = arrival;
  const caller = who.caller ?? NOBODY;
  const isWrite = one.method !== "GET";
  if (isWrite) refuseForeign(caller, request);
  if (one.role !== "anyone") needRole(caller, one.role);
  if (isWrite && options.readOnly === true && one.isHarmless !== true) {
    throw new HttpError(403, "read_only", "this server is read-only");
  }
  checkScope(one, caller, params);
  const search = new URL(request.url).searchParams;
  const query = validate(one.query ?? NOTHING, queryValues(one.query ?? NOTHING, search), "query");
  const isRead = isWrite && one.rawBody === undefined;
  const body = isRead ? await bodyOf(one, request, options.maxBodyBytes ?? MAX_BODY_BYTES) : null;
  const call: Call = { hf, services, caller, params, query, body, request, address };
  const what = `${one.method} ${one.path}`;
  const act = () => one.run(call as Call<never, never>);
  if (one.audit === null || one.role === "anyone") return act();
  const out = await audit.as(who, what, act);
  if (one.audit.startsWith("noted: ")) {
    const action = one.audit.slice("noted: ".length);
    const { details, ...about } = out instanceof Reply ? out.noted : {};
    const { reason } = Object(body) as { readonly reason?: string };
    await audit.note(who, {
      ...{ action, reason, queue: params["queue"], ...about },
      details: { ...params, ...details, http: what },
    });
  }
  return out;
}

const NOTHING = z.strictObject({});

async function bodyOf(one: Route, request: Request, maxBytes: number): Promise<unknown> {
  const body = await readJson(request, maxBytes);
  if (one.body === null) return validate(NOTHING, body ?? {}, "body") && null;
  if (body === undefined && one.isBodyOptional) return validate(one.body, {}, "body");
  if (body === undefined) throw new HttpError(400, "invalid_json", "the body is missing");
  return validate(one.body, body, "body");
}

/** A page elsewhere can make a browser send its cookies; it cannot make it lie about where that page is. */
function refuseForeign({ via }: Caller, request: Request): void {
  // Those come in a header that a page elsewhere cannot set.
  if (via === "token" || via === "jwt") return;
  const site = request.headers.get("sec-fetch-site");
  const isOwn =
    via === "session"
      ? site === "same-origin"
      : site === "same-origin" || site === "none" || (site === null && isFromOwnPage(request));
  if (isOwn) return;
  throw new HttpError(403, "csrf", "a write with a cookie must come from a page of this server");
}

/**
 * Over plain http browsers do not say how far a page is from here, but with every write where it is. What says
 * neither is no browser; and JSON from elsewhere takes a preflight, which allows nothing.
 */
function isFromOwnPage(request: Request): boolean {
  const origin = request.headers.get("origin");
  if (origin === null || isJson(request.headers.get("content-type"))) return true;
  const host = URL.canParse(origin) ? new URL(origin).host : "";
  const own = [new URL(request.url).host, request.headers.get("x-forwarded-host")];
  return host !== "" && own.includes(host);
}

function checkScope(one: Route, caller: Caller, params: Readonly<Record<string, string>>): void {
  const { queue, group } = params;
  if (queue !== undefined) validate(name, queue, "path");
  if (group !== undefined && group !== "") validate(name, group, "path");
  for (const text of Object.values(params)) validate(words(300), text, "path");
  if (caller.queues === null) return;
  if (one.scope === "whole") throw notFound();
  if (queue !== undefined && !sees(caller, queue)) throw notFound();
}

/** A list that takes too long is given up; a write goes on, and its caller cannot know what came of it. */
async function withinTime<Out>(
  services: Services,
  one: Route,
  running: Promise<Out>,
): Promise<Out> {
  const isWrite = one.method !== "GET";
  const base = services.options.timeoutMs ?? TIMEOUT_MS;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => {
      const code = isWrite ? "timeout" : "query_timeout";
      const headers = { "retry-after": "5" };
      reject(new HttpError(503, code, "this takes too long: ask for less, or later", { headers }));
    },
    isWrite ? base * WRITE_FACTOR : base,
  );
  // If it fails after that, its caller has heard of it already.
  running.catch(() => {});
  return Promise.race([running, late]).finally(() => clearTimeout(timer));
}

function answer(one: Route, { options }: Services, out: unknown): Response {
  if (out instanceof Response) return withHeaders(out);
  const reply = out instanceof Reply ? out : new Reply(out, 200);
  const text = JSON.stringify(one.isUnwrapped ? reply.data : { success: true, data: reply.data });
  if (options.checkAnswers === true && one.answer instanceof z.ZodType) {
    const sent: unknown = JSON.parse(text);
    one.answer.parse(one.isUnwrapped ? sent : (sent as { data: unknown }).data);
  }
  return new Response(text, {
    status: reply.status,
    headers: { ...SECURITY_HEADERS, ...JSON_TYPE, ...reply.headers },
  });
}

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

function withHeaders(response: Response): Response {
  for (const [key, value] of Object.entries(SECURITY_HEADERS)) {
    if (!response.headers.has(key)) response.headers.set(key, value);
  }
  return response;
}

export function refusal(
  error: unknown,
  { audit, logger, hf }: Services,
  about: { readonly one: Route | null; readonly who: Who; readonly requestId: string },
): Response {
  const { one, who, requestId } = about;
  const { status, code, message, extra, headers, isOurs } = errorAnswer(error);
  if (isOurs) logger.error("a request failed", { error, requestId, route: one?.path });
  // For a token with a scope, what is outside is not there.
  const isTrespass = NOTED_REFUSALS.has(status) || (status === 404 && who.caller?.queues != null);
  if (one && one.method !== "GET" && isTrespass) {
    const action = `refused ${one.method} ${one.path}`;
    audit.gather(who, { action, state: "refused", details: { status, code } });
  }
  const told = { code, message: hf.tools.redact.text(message), ...extra, requestId };
  return new Response(JSON.stringify({ success: false, error: told }), {
    status,
    headers: { ...SECURITY_HEADERS, ...JSON_TYPE, ...headers },
  });
}
