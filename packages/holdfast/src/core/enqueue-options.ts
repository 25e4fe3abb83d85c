/** What a caller may say about one job beyond its payload, and how it is checked. */
import { MAX_ATTEMPTS } from "./backoff.ts";
import { InvalidOptionError } from "./errors.ts";
import { META_WORD } from "./expiry.ts";
import { MAX_PRIORITY } from "./job.ts";
import { checkKey, checkName, checkTags } from "./names.ts";
import {
  checkObject,
  checkOneOf,
  checkOptions,
  checkWhole,
  MAX_DURATION_MS,
} from "./option-checks.ts";
import { hasControl, show } from "./text.ts";

/** When it is due: in a while, or at a time. Both do not compile. */
export type DueOptions =
  | {
      /** Due this long after the enqueue. */
      readonly delayMs?: number | undefined;
      readonly runAt?: undefined;
    }
  | {
      /** Due at this time; instead of `delayMs`. */
      readonly runAt: Date;
      readonly delayMs?: undefined;
    };

/** When it is too late: in a while, or at a time. Both do not compile. */
export type ExpiryOptions =
  | {
      /** Past this time, by the store's clock, the job is cancelled with the reason `expired` instead of run. */
      readonly expiresAt?: Date | undefined;
      readonly expiresAfterMs?: undefined;
    }
  | {
      /** The same as `expiresAt`, this long after the enqueue; instead of it. */
      readonly expiresAfterMs: number;
      readonly expiresAt?: undefined;
    };

/** An option that is undefined is not there. */
export type EnqueueOptions = PlainEnqueueOptions & DueOptions & ExpiryOptions;

/** What goes with everything else. */
export interface PlainEnqueueOptions {
  /** 0 to 8191, lower runs first. Default 100. */
  readonly priority?: number | undefined;
  /** Unique in its queue: a second job with this key is a duplicate. */
  readonly idempotencyKey?: string | undefined;
  /** How long the key blocks. Default: as long as the job is kept. */
  readonly idempotencyTtlMs?: number | "until-finished" | undefined;
  /** The payload is the key. */
  readonly dedupe?: "payload" | undefined;
  /** `"return"` the first job's receipt, or `"throw"` `DuplicateJobError`. */
  readonly onDuplicate?: "return" | "throw" | undefined;
  /** Same key, other payload: `"throw"` `IdempotencyConflictError`, or `"return"` the first job's receipt. */
  readonly onConflict?: "return" | "throw" | undefined;
  readonly maxAttempts?: number | undefined;
  /** Groups of a queue take fair turns. */
  readonly group?: string | undefined;
  readonly queue?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Kept with the job for people and programs; the handler may read it. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Trace context, for example a W3C traceparent. */
  readonly trace?: string | undefined;
}

/** What a contract and an enqueue both decide. */
export interface Policy {
  readonly priority?: number | undefined;
  readonly dedupe?: "payload" | undefined;
  readonly idempotencyTtlMs?: number | "until-finished" | undefined;
  readonly onDuplicate?: "return" | "throw" | undefined;
  readonly onConflict?: "return" | "throw" | undefined;
}

const OPTIONS = [
  "priority",
  "delayMs",
  "runAt",
  "expiresAt",
  "expiresAfterMs",
  "idempotencyKey",
  "idempotencyTtlMs",
  "dedupe",
  "onDuplicate",
  "onConflict",
  "maxAttempts",
  "group",
  "queue",
  "tags",
  "meta",
  "trace",
];

const ANSWERS = ["return", "throw"] as const;
const MAX_TRACE_CHARS = 1024;
/** The end of the year 9999: what every database can still write as a date. */
const MAX_RUN_AT = 253_402_300_799_999;

/** Throws `InvalidOptionError` or `InvalidNameError`. `meta` is checked for its shape only: it is encoded later. */
export function checkEnqueueOptions(options: EnqueueOptions): void {
  checkOptions("enqueue", options, OPTIONS);
  checkPolicy(options);
  const { delayMs, runAt, idempotencyKey, maxAttempts, group, queue, tags, meta, trace } = options;
  if (delayMs !== undefined) checkWhole("delayMs", delayMs, { min: 0, max: MAX_DURATION_MS });
  if (runAt !== undefined) {
    checkInstant("runAt", runAt);
    if (delayMs !== undefined)
      throw new InvalidOptionError("enqueue takes delayMs or runAt, not both");
  }
  checkExpiry(options);
  if (idempotencyKey !== undefined) {
    checkKey(idempotencyKey);
    if (options.dedupe !== undefined) {
      throw new InvalidOptionError("enqueue takes idempotencyKey or dedupe, not both");
    }
  }
  if (maxAttempts !== undefined)
    checkWhole("maxAttempts", maxAttempts, { min: 1, max: MAX_ATTEMPTS });
  if (group !== undefined) checkName("group", group);
  if (queue !== undefined) checkName("queue", queue);
  if (tags !== undefined) checkTags(tags);
  if (meta !== undefined) checkMeta(meta);
  if (trace !== undefined) checkTrace(trace);
}

export function checkPolicy({
  priority,
  dedupe,
  idempotencyTtlMs,
  onDuplicate,
  onConflict,
}: Policy): void {
  if (priority !== undefined) checkWhole("priority", priority, { min: 0, max: MAX_PRIORITY });
  if (dedupe !== undefined) checkOneOf("dedupe", dedupe, ["payload"]);
  if (idempotencyTtlMs !== undefined && idempotencyTtlMs !== "until-finished") {
    if (typeof idempotencyTtlMs !== "number") {
      throw new InvalidOptionError(
        `idempotencyTtlMs must be a number of milliseconds or "until-finished", not ${show(idempotencyTtlMs)}`,
      );
    }
    checkWhole("idempotencyTtlMs", idempotencyTtlMs, { min: 1, max: MAX_DURATION_MS });
  }
  if (onDuplicate !== undefined) checkOneOf("onDuplicate", onDuplicate, ANSWERS);
  if (onConflict !== undefined) checkOneOf("onConflict", onConflict, ANSWERS);
}

/** The options of an item for `enqueueAll`, without what is not an option. */
export function itemOptions(item: object): EnqueueOptions {
  const {
    type: _type,
    payload: _payload,
    contract: _contract,
    ...options
  } = item as Record<string, unknown>;
  return options;
}

function checkExpiry({ expiresAt, expiresAfterMs }: EnqueueOptions): void {
  if (expiresAt !== undefined) checkInstant("expiresAt", expiresAt);
  if (expiresAfterMs === undefined) return;
  checkWhole("expiresAfterMs", expiresAfterMs, { min: 1, max: MAX_DURATION_MS });
  if (expiresAt !== undefined) {
    throw new InvalidOptionError("enqueue takes expiresAt or expiresAfterMs, not both");
  }
}

function checkMeta(meta: unknown): void {
  checkObject("meta", meta);
  if (!(META_WORD in meta)) return;
  throw new InvalidOptionError(`meta has no ${META_WORD}: that word is kept for Holdfast itself`);
}

function checkInstant(what: string, date: unknown): void {
  if (!(date instanceof Date)) {
    throw new InvalidOptionError(`${what} must be a Date, not ${show(date)}: use new Date(…)`);
  }
  const at = date.getTime();
  if (!(at >= 0 && at <= MAX_RUN_AT)) {
    throw new InvalidOptionError(`${what} must be a valid Date between the years 1970 and 9999`);
  }
}

function checkTrace(trace: unknown): void {
  if (
    typeof trace === "string" &&
    trace.length > 0 &&
    trace.length <= MAX_TRACE_CHARS &&
    !hasControl(trace) &&
    trace.isWellFormed()
  )
    return;
  throw new InvalidOptionError(
    `trace must be 1 to ${MAX_TRACE_CHARS} printable characters, for example a W3C traceparent`,
  );
}
