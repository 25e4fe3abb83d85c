/** What HubSpot refused or failed at, in its own words: category, correlation id, properties, missing scopes. */
import { HoldfastError, type Classification } from "holdfast";

/** One complaint about one input. */
export interface HubSpotComplaint {
  readonly message: string;
  readonly code: string | null;
  readonly context: Readonly<Record<string, readonly string[]>>;
}

export interface HubSpotErrorDetails {
  /** Null: there was no answer, or none that could be read. */
  readonly status: number | null;
  readonly category?: string | null;
  readonly correlationId?: string | null;
  readonly policy?: string | null;
  readonly complaints?: readonly HubSpotComplaint[];
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

export class HubSpotError extends HoldfastError {
  readonly code = "HOLDFAST_HUBSPOT";
  readonly status: number | null;
  /** HubSpot's own: `VALIDATION_ERROR`, `MISSING_SCOPES`, `CONFLICT`, … */
  readonly category: string | null;
  /** HubSpot's support asks for it. */
  readonly correlationId: string | null;
  /** Of a 429: `TEN_SECONDLY_ROLLING`, `DAILY`, … */
  readonly policy: string | null;
  readonly complaints: readonly HubSpotComplaint[];
  /** The properties that the portal refuses. */
  readonly properties: readonly string[];
  readonly missingScopes: readonly string[];
  /** When to come back, if it is known. */
  readonly retryAfterMs: number | null;
  override readonly isRetryable: boolean;

  constructor(message: string, details: HubSpotErrorDetails) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    const { status, category = null, correlationId = null, policy = null } = details;
    const { complaints = [], retryAfterMs = null } = details;
    this.status = status;
    this.category = category;
    this.correlationId = correlationId;
    this.policy = policy;
    this.complaints = complaints;
    this.retryAfterMs = retryAfterMs;
    this.properties = contextOf(complaints, ["propertyName"]);
    this.missingScopes = contextOf(complaints, [
      "missingScopes",
      "requiredGranularScopes",
      "requiredScopes",
    ]);
    const isLater = status === 423 || status === 429 || status === 477;
    this.isRetryable = status === null || isLater || status >= 500;
  }
}

export function isRateLimit(error: unknown): error is HubSpotError {
  if (!(error instanceof HubSpotError)) return false;
  return error.status === 429 || error.category === "RATELIMIT_EXCEEDED";
}

export function isAuthError(error: unknown): error is HubSpotError {
  if (!(error instanceof HubSpotError)) return false;
  return error.status === 401 || error.status === 403 || error.category === "MISSING_SCOPES";
}

/** What a job makes of it; undefined: as the library sees it. */
export function classifyHubSpot(error: unknown): Partial<Classification> | undefined {
  if (!(error instanceof HubSpotError)) return undefined;
  const { status, retryAfterMs } = error;
  if (isRateLimit(error)) {
    return { category: "rate_limit", permanent: false, retryAfterMs: retryAfterMs ?? 10_000 };
  }
  if (isAuthError(error)) return { category: "auth", permanent: true };
  // The account is being moved, for up to a day: at the time that it names, or the retries would be over before.
  if (status === 477) return { category: "network", permanent: false, retryAfterMs };
  // The record is in use.
  if (status === 423) return { category: "network", permanent: false };
  if (status === null) return undefined;
  if (status === 404 || status === 408 || status === 409 || status === 425) return undefined;
  if (status >= 400 && status < 500) return { category: "validation", permanent: true };
  return { category: status === 504 ? "timeout" : "network", permanent: false };
}

function contextOf(
  complaints: readonly HubSpotComplaint[],
  names: readonly string[],
): readonly string[] {
  const found = complaints.flatMap(({ context }) => names.flatMap((name) => context[name] ?? []));
  return [...new Set(found)];
}
