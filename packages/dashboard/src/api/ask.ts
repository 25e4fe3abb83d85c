/** Asks the server, and reads what it answers: numbers as they are written, refusals as errors. */
import { parseExact, printExact } from "../text/exact-json.ts";
import { cell } from "../state/cell.ts";
import { ApiError } from "./api-error.ts";

const TIMEOUT_MS = 35_000;

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Ask {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  /** Instead of a body: a form with a file in it. */
  readonly form?: FormData | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Instead of the session. */
  readonly token?: string | undefined;
}

/** Turns true when the session is over: the page asks for a token again. */
export const sessionOver = cell(false);

/** Where the API is: beside the page, or under the base path. The page says which. */
let base = ".";

export function setBase(given: string): void {
  base = given;
}

/** For curl: the whole address. */
export function addressOf(path: string, query: Query = {}): string {
  return new URL(pathOf(path, query), document.baseURI.replace(/#.*$/, "")).href;
}

export function pathOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  // An empty group is a group of its own: the jobs without one.
  if (query["group"] === "") search.set("group", "");
  const text = search.toString();
  const place = path.startsWith("/") ? path : `/api/v1/${path}`;
  return `${base}${place}${text === "" ? "" : `?${text}`}`;
}

/** A path that begins with a slash is that of a mount with a place and a shape of its own. */
export async function ask<Answer>(method: string, path: string, about: Ask = {}): Promise<Answer> {
  const { query, body, form, signal, token } = about;
  const late = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(pathOf(path, query), {
      method,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: printExact(body, 0) }),
      ...(form !== undefined && { body: form }),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    const isSafe = method === "GET" || token !== undefined;
    throw new ApiError(0, "no_answer", isSafe ? NO_ANSWER : NO_ANSWER + PERHAPS);
  }
  const answered = read(text);
  const out = path.startsWith("/") ? answered : answered?.data;
  if (response.ok && out !== undefined) return out as Answer;
  if (response.ok) throw new ApiError(response.status, "no_json", NO_JSON);
  const error = answered?.error;
  if (response.status === 401 && token === undefined) sessionOver.set(true);
  const wait = Number(response.headers.get("retry-after"));
  const { code = "unknown", message = `The server answered ${response.status}.` } = error ?? {};
  const fields = (error?.errors ?? []).map((one) => `${one.path}: ${one.message}`).join("; ");
  throw new ApiError(
    ...([response.status, code, fields === "" ? message : `${message} (${fields})`] as const),
    { retryAfter: wait > 0 ? wait : null, jobId: error?.jobId ?? null },
  );
}

const NO_ANSWER = "The server does not answer.";
const PERHAPS = " It may have done it all the same: look before you do it again.";
/** A proxy that has a login page of its own sends that instead, with a 200. */
const NO_JSON =
  "Something else answered in the server's place. Load the page again: a proxy may ask for a login.";

interface Answered {
  readonly data?: unknown;
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly jobId?: string;
    readonly errors?: readonly { readonly path: string; readonly message: string }[];
  };
}

/** Undefined: it is not JSON, or nothing that an API answers. */
function read(text: string): Answered | undefined {
  try {
    const found: unknown = parseExact(text);
    return typeof found === "object" && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

export const part = encodeURIComponent;

export function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  return ask<Answer>("GET", path, { query, signal });
}

export function post<Answer>(path: string, body: unknown = {}): Promise<Answer> {
  return ask<Answer>("POST", path, { body });
}

/** Why; who is known from the session. */
export interface Reason {
  readonly reason?: string | undefined;
}
