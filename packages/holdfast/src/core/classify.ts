/**
 * What kind of failure was that, and does trying again make sense?
 *
 * Handlers throw whatever their libraries throw, so this looks at all the usual places: HTTP status,
 * code, name, the error's cause and its causes. Hard evidence (a status, a code, a name) anywhere in
 * the chain outweighs words in a message: "fetch failed" because of a headers timeout is a timeout.
 * A message alone never makes an error permanent.
 *
 * | Category   | Evidence                                                       | Permanent |
 * |------------|----------------------------------------------------------------|-----------|
 * | rate_limit | `RetryAfterError`, 429, RATELIMIT_EXCEEDED                     | no        |
 * | auth       | 401, 403, MISSING_SCOPES                                       | yes       |
 * | validation | other 4xx but 404, 408, 409, 425; schemas; ENOENT of a file    | yes       |
 * | timeout    | 408, 504, codes and names with "timeout"                       | no        |
 * | network    | other 5xx, ECONN*, EAI_AGAIN and their like, "fetch failed"    | no        |
 * | unknown    | everything else                                                | no        |
 *
 * `PermanentError` is permanent whatever its category.
 */
import { ERROR_CATEGORIES, type ErrorCategory } from "./job.ts";
import { errorChain, read, readText } from "./error-chain.ts";
import { MAX_DURATION_MS } from "./option-checks.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface Classification {
  readonly category: ErrorCategory;
  /** The job becomes a dead letter at once, whatever attempts are left. */
  readonly permanent: boolean;
  /** Not before then, and no attempt is spent. Null: the retry policy decides. */
  readonly retryAfterMs: number | null;
}

/** Never throws, whatever it is given. `nowMs` is needed only to read a Retry-After that is a date. */
export function classifyError(
  error: unknown,
  options: { readonly nowMs?: number } = {},
): Classification {
  const chain = errorChain(error);
  // PermanentError speaks of the retry, not of the kind: that is what its causes are for.
  const evidence = chain.filter((link) => !isPermanentError(link));
  const hard = evidence.find((link) => hardEvidence(link) !== null);
  const category = firstOf(evidence, hardEvidence) ?? firstOf(evidence, softEvidence) ?? "unknown";
  const permanent = evidence.length < chain.length || isPermanentCategory(category);
  const after = permanent || category !== "rate_limit" ? null : afterMs(hard, options.nowMs);
  return { category, permanent, retryAfterMs: after };
}

/**
 * What `classify` of a contract makes of it: a category, or parts of a classification. A new category
 * brings its own answer to "permanent?" along, unless that is given too. Nonsense changes nothing.
 */
export function reclassify(found: Classification, said: unknown): Classification {
  const change = typeof said === "string" ? { category: said } : said;
  const named = ERROR_CATEGORIES.find((known) => known === read(change, "category"));
  const category = named ?? found.category;
  const decided = read(change, "permanent");
  const usual = named === undefined ? found.permanent : isPermanentCategory(named);
  const permanent = typeof decided === "boolean" ? decided : usual;
  const after = read(change, "retryAfterMs");
  const kept = after === null ? null : (wholeMs(after) ?? found.retryAfterMs);
  return { category, permanent, retryAfterMs: permanent ? null : kept };
}

/** Trying again with the same rights and the same payload ends the same way. */
export function isPermanentCategory(category: ErrorCategory): boolean {
  return category === "auth" || category === "validation";
}

function firstOf(
  chain: readonly unknown[],
  judge: (link: unknown) => ErrorCategory | null,
): ErrorCategory | null {
  for (const link of chain) {
    const category = judge(link);
    if (category !== null) return category;
  }
  return null;
}

function hardEvidence(link: unknown): ErrorCategory | null {
  const words = wordsOf(link);
  for (const word of words) {
    const category = ofWord(word, link);
    if (category !== null) return category;
  }
  return ofStatus(statusOf(link));
}

function softEvidence(link: unknown): ErrorCategory | null {
  const message = typeof link === "string" ? link : readText(link, "message");
  if (message === "") return null;
  // The first words only: a message may carry a whole page.
  const head = message.slice(0, 500);
  if (/rate.?limit|too many requests/i.test(head)) return "rate_limit";
  if (/time[ds]?[ -]?out/i.test(head)) return "timeout";
  if (
    /fetch failed|network error|socket hang up|connection (?:refused|reset|closed|terminated)/i.test(
      head,
    )
  ) {
    return "network";
  }
  return null;
}

/** Codes and names, of the error and of the reply it carries. */
function wordsOf(link: unknown): string[] {
  const reply = read(link, "response");
  const bodies = [link, read(link, "body"), read(reply, "data"), read(reply, "body")];
  const words = bodies.flatMap((body) => [
    readText(body, "code"),
    readText(body, "category"),
    readText(body, "errorType"),
  ]);
  return [...words, readText(link, "name")].filter((word) => word !== "");
}

const RATE_LIMIT = new Set([
  "HOLDFAST_RETRY_AFTER",
  "RATELIMIT_EXCEEDED",
  "RATE_LIMIT_EXCEEDED",
  "RATE_LIMIT",
  "RATE_LIMITS",
]);
const SCHEMA = new Set([
  "HOLDFAST_PAYLOAD_VALIDATION",
  "HOLDFAST_RESULT_VALIDATION",
  "ENOENT",
  "ZodError",
  "$ZodError",
  "ValiError",
  "ValidationError",
  "TraversalError",
]);
const NETWORK = new Set([
  "EAI_AGAIN",
  "ENOTFOUND",
  "EPIPE",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ENETRESET",
  "UND_ERR_SOCKET",
  "ERR_NETWORK",
]);

function ofWord(word: string, link: unknown): ErrorCategory | null {
  if (RATE_LIMIT.has(word)) return "rate_limit";
  if (word === "MISSING_SCOPES") return "auth";
  // Of a socket: the server behind it is being restarted.
  if (word === "ENOENT" && readText(link, "syscall") === "connect") return "network";
  if (SCHEMA.has(word)) return "validation";
  if (/TIME(?:D_?)?OUT/.test(word) || /Timeout(?:Error|Exception)?$/.test(word)) return "timeout";
  // axios says ECONNABORTED when its own timeout fires.
  if (word === "ECONNABORTED" && softEvidence(link) === "timeout") return "timeout";
  if (word.startsWith("ECONN") || NETWORK.has(word)) return "network";
  return null;
}

function ofStatus(status: number): ErrorCategory | null {
  if (status === 429) return "rate_limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 408 || status === 504) return "timeout";
  // Not there yet, taken, too early: these heal by themselves often enough.
  if (status === 404 || status === 409 || status === 425) return "unknown";
  if (status >= 400 && status <= 499) return "validation";
  if (status >= 500 && status <= 599) return "network";
  return null;
}

function statusOf(link: unknown): number {
  const reply = read(link, "response");
  const places = [
    read(link, "status"),
    read(link, "statusCode"),
    read(reply, "status"),
    read(reply, "statusCode"),
  ];
  // Google's and HubSpot's clients put the status into `code`. MongoDB's numbers are its own.
  if (!readText(link, "name").startsWith("Mongo")) places.push(read(link, "code"));
  for (const place of places) {
    const status = typeof place === "string" && /^\d{3}$/.test(place) ? Number(place) : place;
    if (Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599) {
      return status as number;
    }
  }
  return 0;
}

function afterMs(link: unknown, nowMs: number | undefined): number | null {
  if (codeOf(link) === "HOLDFAST_RETRY_AFTER") return wholeMs(read(link, "afterMs"));
  // Clients that have read the header themselves, `@holdfast/crm` among them, say it in the error.
  const said = wholeMs(read(link, "retryAfterMs"));
  if (said !== null) return said;
  const reply = read(link, "response");
  return retryAfterMs(read(reply, "headers"), nowMs) ?? retryAfterMs(read(link, "headers"), nowMs);
}

/** Rounded up, as the time is never undercut; null if it is no duration. */
function wholeMs(ms: unknown): number | null {
  return typeof ms === "number" && ms >= 0 ? Math.ceil(Math.min(ms, MAX_DURATION_MS)) : null;
}

/** By code, not by class: the handler may have another copy of the package. */
function isPermanentError(link: unknown): boolean {
  return codeOf(link) === "HOLDFAST_PERMANENT";
}

function codeOf(link: unknown): string {
  return readText(link, "code");
}
