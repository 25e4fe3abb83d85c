/** From a reply of HubSpot to its JSON, or to the error that it means. */
import { HubSpotError, type HubSpotComplaint } from "./hubspot-error.ts";
import { untilDailyReset } from "./until-daily-reset.ts";
import type { ToldLimits } from "../calls.ts";

const MOST_BYTES = 20 * 1024 * 1024;
const MAX_MESSAGE = 500;
/** A 429 that names no time. */
const UNNAMED_MS: Readonly<Record<string, number>> = {
  TEN_SECONDLY_ROLLING: 10_000,
  SECONDLY: 1_000,
};

export interface Asking {
  readonly method: string;
  readonly path: string;
  readonly timeZone: string;
  readonly now: number;
}

/** Null for an answer without a body. Throws `HubSpotError`. */
export async function readAnswer(reply: Response, asking: Asking): Promise<unknown> {
  const text = await textOf(reply, asking);
  if (reply.status === 204 || (reply.ok && text === "")) return null;
  const json = jsonOf(text);
  if (reply.ok && typeof json === "object" && json !== null) return json;
  throw errorOf(reply, json, asking);
}

/** What the headers say of the limits; null where they say nothing. */
export function toldLimits(headers: Headers): ToldLimits | null {
  const number = (name: string) => {
    const text = headers.get(`x-hubspot-ratelimit-${name}`);
    return text !== null && /^\d+$/.test(text) ? Number(text) : null;
  };
  const max = number("max");
  const intervalMs = number("interval-milliseconds");
  if (max === null || intervalMs === null || max < 1 || intervalMs < 1) return null;
  return { max, intervalMs, daily: number("daily"), dailyRemaining: number("daily-remaining") };
}

function errorOf(reply: Response, json: unknown, asking: Asking): HubSpotError {
  const { status, headers } = reply;
  const body = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  const correlationId = wordOf(body["correlationId"]) ?? headers.get("x-hubspot-correlation-id");
  const isRead = typeof json === "object" && json !== null;
  // Something was answered that nobody can read: whether it was done is not known.
  if (!isRead && (reply.ok || status >= 500)) {
    const what = `HubSpot answered ${asking.method} ${asking.path} with ${status} and no JSON`;
    return new HubSpotError(what, { status: reply.ok ? null : status, correlationId });
  }
  const category = wordOf(body["category"]) ?? wordOf(body["errorType"]);
  const complaints = complaintsOf(body);
  const policy = status === 429 ? policyOf(body) : null;
  const said = (wordOf(body["message"]) ?? reply.statusText).slice(0, MAX_MESSAGE);
  const details = { status, category, correlationId, policy, complaints };
  const retryAfterMs = status === 429 || status === 477 ? afterMs(headers, policy, asking) : null;
  const about = complaints.map(({ message }) => message).join("; ");
  const scopes = new HubSpotError("", details).missingScopes;
  const parts = [
    `HubSpot answered ${asking.method} ${asking.path} with ${status}`,
    ...(category === null ? [] : [` ${category}`]),
    `: ${said}`,
    ...(about === "" || about === said ? [] : [` (${about.slice(0, MAX_MESSAGE)})`]),
    ...(scopes.length === 0 ? [] : [` [missing scopes: ${scopes.join(", ")}]`]),
    ...(correlationId === null ? [] : [` [correlation id ${correlationId}]`]),
  ];
  return new HubSpotError(parts.join(""), { ...details, retryAfterMs });
}

function policyOf(body: Readonly<Record<string, unknown>>): string | null {
  const named = wordOf(body["policyName"]);
  if (named !== null) return named;
  const message = wordOf(body["message"]) ?? "";
  if (/secondly limit/i.test(message)) return "SECONDLY";
  return /daily/i.test(message) ? "DAILY" : null;
}

/** The daily limit ends with the account's day, whatever the header says. */
function afterMs(headers: Headers, policy: string | null, asking: Asking): number | null {
  const { timeZone, now } = asking;
  if (policy === "DAILY") return untilDailyReset(now, timeZone);
  const named = headers.get("retry-after");
  if (named !== null && /^\d+(?:\.\d+)?$/.test(named.trim())) {
    return Math.ceil(Number(named) * 1_000);
  }
  const at = named === null ? Number.NaN : Date.parse(named);
  if (!Number.isNaN(at)) return Math.max(0, at - now);
  return null;
}

/** How long to wait where no time was named. */
export function unnamedMs(policy: string | null): number {
  return UNNAMED_MS[policy ?? ""] ?? 10_000;
}

export function complaintsOf(body: Readonly<Record<string, unknown>>): HubSpotComplaint[] {
  const own = contextOf(body["context"]);
  const inner = Array.isArray(body["errors"]) ? (body["errors"] as readonly unknown[]) : [];
  const all = inner.flatMap((one) => {
    if (typeof one !== "object" || one === null) return [];
    const { message, code, context } = one as Record<string, unknown>;
    const said = (wordOf(message) ?? "").slice(0, MAX_MESSAGE);
    return [{ message: said, code: wordOf(code), context: contextOf(context) }];
  });
  return Object.keys(own).length === 0 ? all : [...all, { message: "", code: null, context: own }];
}

function contextOf(given: unknown): Record<string, readonly string[]> {
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).map(([name, values]) => [
      name,
      (Array.isArray(values) ? (values as readonly unknown[]) : [values]).map(String),
    ]),
  );
}

function wordOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Counted as it comes: the length in a header is that of the packed answer, or is not there. */
async function textOf(reply: Response, { method, path }: Asking): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of reply.body ?? []) {
    bytes += part.length;
    // Leaving the loop ends the answer as well.
    if (bytes > MOST_BYTES) break;
    parts.push(part);
  }
  if (bytes <= MOST_BYTES) return new TextDecoder().decode(Buffer.concat(parts));
  const message = `HubSpot answered ${method} ${path} with more than ${MOST_BYTES} bytes`;
  throw new HubSpotError(message, { status: reply.ok ? null : reply.status });
}
