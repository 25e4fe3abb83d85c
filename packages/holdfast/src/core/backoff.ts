/** How long a job waits after a failed attempt. */
import { InvalidOptionError } from "./errors.ts";
import {
  checkFunction,
  checkNumber,
  checkOptions,
  checkWhole,
  MAX_DURATION_MS,
} from "./option-checks.ts";
import { show } from "./text.ts";

/** Exponential by default; `delaysMs` is an explicit list, `delay` a function. */
export type RetryPolicy = {
  /** Attempts in all, the first one included: 1 to 1000. */
  readonly maxAttempts?: number | undefined;
  /** The wait after the first failed attempt. */
  readonly baseMs?: number | undefined;
  /** What every further wait is multiplied by. */
  readonly factor?: number | undefined;
  /** No wait is longer, before jitter. */
  readonly maxMs?: number | undefined;
  /** 0.2 spreads waits by 20 percent to both sides, so that jobs that failed together do not return together. */
  readonly jitter?: number | undefined;
  /** The wait after each failed attempt; the last one repeats. Without jitter unless `jitter` is given. */
  readonly delaysMs?: readonly number[] | undefined;
  /** The wait as it returns it. If it throws or returns nonsense: exponential. */
  readonly delay?: ((failedAttempts: number, error: unknown) => number) | undefined;
};

/** A policy with every number filled in. */
export interface ResolvedRetry {
  readonly maxAttempts: number;
  /** `maxAttempts` was not named, so what the Holdfast says counts. */
  readonly attemptsByDefault?: true;
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly jitter: number;
  readonly delaysMs?: readonly number[];
  readonly delay?: (failedAttempts: number, error: unknown) => number;
}

export const DEFAULT_RETRY = {
  maxAttempts: 5,
  baseMs: 1000,
  factor: 2,
  maxMs: 60_000,
  jitter: 0.2,
} as const satisfies ResolvedRetry;

export const MAX_ATTEMPTS = 1000;

const DURATION = { min: 0, max: MAX_DURATION_MS };
const OPTIONS = ["maxAttempts", "baseMs", "factor", "maxMs", "jitter", "delaysMs", "delay"];

/** Fills in the defaults. Throws `InvalidOptionError`. */
export function checkRetry(policy: RetryPolicy | undefined): ResolvedRetry {
  if (policy === undefined) return DEFAULT_RETRY;
  checkOptions("retry", policy, OPTIONS);
  const { delaysMs, delay } = policy;
  if (delaysMs !== undefined && delay !== undefined) {
    throw new InvalidOptionError("retry takes delaysMs or delay, not both");
  }
  const maxAttempts = policy.maxAttempts ?? DEFAULT_RETRY.maxAttempts;
  const baseMs = policy.baseMs ?? DEFAULT_RETRY.baseMs;
  const factor = policy.factor ?? DEFAULT_RETRY.factor;
  const maxMs = policy.maxMs ?? DEFAULT_RETRY.maxMs;
  const jitter = policy.jitter ?? (delaysMs === undefined ? DEFAULT_RETRY.jitter : 0);
  checkWhole("retry.maxAttempts", maxAttempts, { min: 1, max: MAX_ATTEMPTS });
  checkNumber("retry.baseMs", baseMs, DURATION);
  checkNumber("retry.factor", factor, { min: 1, max: 1000 });
  checkNumber("retry.maxMs", maxMs, DURATION);
  checkNumber("retry.jitter", jitter, { min: 0, max: 1 });
  if (delay !== undefined) checkFunction("retry.delay", delay);
  if (delaysMs !== undefined) checkDelays(delaysMs);
  else if (baseMs > maxMs) {
    throw new InvalidOptionError(
      `retry.baseMs (${baseMs}) is above retry.maxMs (${maxMs}), so it would never be waited: raise maxMs`,
    );
  }
  return Object.freeze({
    maxAttempts,
    baseMs,
    factor,
    maxMs,
    jitter,
    ...(policy.maxAttempts === undefined && { attemptsByDefault: true as const }),
    ...(delaysMs === undefined ? {} : { delaysMs: Object.freeze([...delaysMs]) }),
    ...(delay === undefined ? {} : { delay }),
  });
}

/** How many attempts a policy names, or else what is the default here. */
export function attemptsOr(retry: ResolvedRetry, fallback: number): number {
  const isDefault = retry === DEFAULT_RETRY || retry.attemptsByDefault === true;
  return isDefault ? fallback : retry.maxAttempts;
}

/**
 * The wait after the n-th failed attempt, in whole milliseconds.
 * `random` is from 0 to 1; one half is the middle of the spread.
 */
export function backoffMs(
  policy: RetryPolicy,
  failedAttempts: number,
  error: unknown,
  random: number,
): number {
  const failed = Math.max(1, Math.floor(failedAttempts) || 1);
  if (policy.delay !== undefined) {
    const ms = asked(policy.delay, failed, error);
    if (ms !== null) return ms;
  }
  const list = policy.delaysMs;
  if (list !== undefined && list.length > 0) {
    const ms = list[Math.min(failed, list.length) - 1] as number;
    return spread(ms, policy.jitter ?? 0, random);
  }
  const baseMs = policy.baseMs ?? DEFAULT_RETRY.baseMs;
  const factor = policy.factor ?? DEFAULT_RETRY.factor;
  const maxMs = policy.maxMs ?? DEFAULT_RETRY.maxMs;
  // The power is infinite from some attempt on; 0 times that would be NaN.
  const ms = baseMs === 0 ? 0 : Math.min(baseMs * factor ** (failed - 1), maxMs);
  return spread(ms, policy.jitter ?? DEFAULT_RETRY.jitter, random);
}

function spread(ms: number, jitter: number, random: number): number {
  return Math.max(0, Math.floor(ms * (1 + jitter * (2 * random - 1))));
}

/** Null if the function has no usable answer: a bug in a backoff must not cost the job. */
function asked(
  delay: (failedAttempts: number, error: unknown) => number,
  failed: number,
  error: unknown,
): number | null {
  try {
    const ms: unknown = delay(failed, error);
    if (typeof ms !== "number" || !(ms >= 0)) return null;
    return Math.floor(Math.min(ms, MAX_DURATION_MS));
  } catch {
    return null;
  }
}

function checkDelays(delays: readonly number[]): void {
  if (!Array.isArray(delays) || delays.length === 0 || delays.length > MAX_ATTEMPTS) {
    throw new InvalidOptionError(
      `retry.delaysMs must be an array of 1 to ${MAX_ATTEMPTS} waits, not ${show(delays)}`,
    );
  }
  delays.forEach((ms, index) => checkNumber(`retry.delaysMs[${index}]`, ms, DURATION));
}
