/** What the double answers, and its errors in HubSpot's words. */
import { Refusal } from "./portal.ts";
import type { InputError } from "./portal-properties.ts";
import type { Policy } from "./rate-windows.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Trouble {
  readonly message: string;
  readonly category: string;
  readonly errors?: readonly InputError[];
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

export function errorAnswer(status: number, trouble: Trouble): Answer {
  return { status, body: { status: "error", ...trouble } };
}

export function invalid(message: string, errors?: readonly InputError[]): Answer {
  return errorAnswer(400, {
    ...{ message, category: "VALIDATION_ERROR" },
    ...(errors && errors.length > 0 && { errors }),
  });
}

const MESSAGES: Readonly<Record<Policy, string>> = {
  TEN_SECONDLY_ROLLING: "You have reached your ten_secondly_rolling limit.",
  SECONDLY: "You have reached your secondly limit.",
  DAILY: "You have reached your daily limit.",
};

export function tooMany(policy: Policy, retryAfterS?: number): Answer {
  return {
    status: 429,
    body: {
      ...{ status: "error", message: MESSAGES[policy], errorType: "RATE_LIMIT" },
      // Refusals of searches come without it.
      ...(policy !== "SECONDLY" && { policyName: policy }),
    },
    ...(retryAfterS !== undefined && { headers: { "retry-after": String(retryAfterS) } }),
  };
}

export function missingScopes(scopes: readonly string[]): Answer {
  const message = "This app hasn't been granted all required scopes to make this call.";
  return errorAnswer(403, {
    ...{ message, category: "MISSING_SCOPES" },
    errors: [
      {
        ...{ message: "One or more of the following scopes are required.", code: "MISSING_SCOPES" },
        context: { requiredGranularScopes: scopes },
      },
    ],
  });
}

export function unauthorized(): Answer {
  return errorAnswer(401, {
    ...{
      message: "Authentication credentials not found or not valid.",
      category: "INVALID_AUTHENTICATION",
    },
  });
}

const STATUS: Readonly<Record<Refusal["category"], number>> = {
  ...{ VALIDATION_ERROR: 400, CONFLICT: 409, OBJECT_NOT_FOUND: 404 },
};

/** Trouble that the portal itself has with an input. */
export function refused(error: unknown): Answer {
  if (!(error instanceof Refusal)) throw error;
  const { category, message, errors } = error;
  return errorAnswer(STATUS[category], {
    ...{ message, category },
    ...(errors.length > 0 && { errors }),
  });
}
