/**
 * One call, with system 4's patience: at most five more tries after 429 and RATELIMIT_EXCEEDED, after 1, 2, 4, 8 and
 * 16 s (30 s at most) or what Retry-After says. Everything else ends it at once: whether to try again then is the
 * job's decision. `p-retry` would add a package for this loop and knows neither Retry-After nor a cooldown of a fleet.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Calls } from "../calls.ts";
import { HubSpotError, isRateLimit } from "./hubspot-error.ts";
import { readAnswer, toldLimits, unnamedMs } from "./read-answer.ts";

export interface RetryInCall {
  /** Tries besides the first. Default 5. */
  readonly retries: number;
  readonly minMs: number;
  /** A longer Retry-After is no matter of one call any more. Default 30 s. */
  readonly maxMs: number;
  readonly factor: number;
}

export const IN_CALL: RetryInCall = { retries: 5, minMs: 1_000, maxMs: 30_000, factor: 2 };

export interface RequestSettings {
  readonly baseUrl: string;
  /** Asked for every call: a token may be renewed meanwhile. */
  readonly token: () => string | Promise<string>;
  readonly timeoutMs: number;
  readonly timeZone: () => string;
  readonly retry: RetryInCall;
  readonly calls: Calls;
  readonly now: () => number;
}

export interface HubSpotRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default `call`. */
  readonly kind?: "call" | "search";
  readonly signal?: AbortSignal | undefined;
}

export async function request(settings: RequestSettings, asked: HubSpotRequest): Promise<unknown> {
  const { calls, retry } = settings;
  const { kind = "call", signal } = asked;
  for (let tried = 0; ; tried += 1) {
    await calls.acquire(kind, signal);
    try {
      return await once(settings, asked);
    } catch (error) {
      if (!isRateLimit(error)) throw error;
      const waitMs = waitOf(error, tried, retry);
      if (waitMs === null) throw withTime(error);
      // The whole fleet waits: others would only be refused as well.
      await calls.coolDown(waitMs);
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/** Null: this call gives up. */
function waitOf(error: HubSpotError, tried: number, retry: RetryInCall): number | null {
  const { retries, minMs, maxMs, factor } = retry;
  if (tried >= retries || error.policy === "DAILY") return null;
  const usual = Math.min(minMs * factor ** tried, maxMs);
  const named = error.retryAfterMs;
  if (named === null) return usual;
  // Never sooner than named; and a 0 that is named again and again is no invitation to hurry.
  return named > maxMs ? null : Math.max(named, usual);
}

/** The job comes back at a time, in any case; at once is none, after so many tries. */
function withTime(error: HubSpotError): HubSpotError {
  if (error.retryAfterMs !== null && error.retryAfterMs > 0) return error;
  const { message, status, category, correlationId, policy, complaints } = error;
  const details = { status, category, correlationId, policy, complaints };
  return new HubSpotError(message, { ...details, retryAfterMs: unnamedMs(policy) });
}

async function once(settings: RequestSettings, asked: HubSpotRequest): Promise<unknown> {
  const { baseUrl, timeoutMs, calls, now } = settings;
  const { method, path, query = {}, body, signal } = asked;
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const asking = { method, path, timeZone: settings.timeZone(), now: now() };
  const token = await settings.token();
  try {
    const reply = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect would carry the token elsewhere.
      redirect: "error",
      signal: either,
    });
    const limits = toldLimits(reply.headers);
    if (limits) calls.heard(limits);
    return await readAnswer(reply, asking);
  } catch (error) {
    if (error instanceof HubSpotError) throw error;
    // The caller's own reason: a stop or a cancel is no trouble of HubSpot's.
    signal?.throwIfAborted();
    const what = timeout.aborted ? `did not answer in ${timeoutMs} ms` : "could not be reached";
    throw new HubSpotError(`HubSpot ${what}: ${method} ${path}`, { status: null, cause: error });
  }
}
