/**
 * A contract: what a job type is called, where it waits, what it takes and how it is retried. The
 * program that enqueues and the program that runs share it; neither needs the other's code.
 */
import { checkRetry, type ResolvedRetry, type RetryPolicy } from "./backoff.ts";
import type { Classification } from "./classify.ts";
import { checkPolicy, type EnqueueOptions } from "./enqueue-options.ts";
import { InvalidOptionError } from "./errors.ts";
import type { ErrorCategory } from "./job.ts";
import type { StoredResult } from "./jsonified.ts";
import { checkLock, type LockOptions, type ResolvedLock } from "./lock-options.ts";
import { checkName, checkTags } from "./names.ts";
import {
  checkFunction,
  checkObject,
  checkOneOf,
  checkText,
  checkWhole,
  MAX_DURATION_MS,
  refuseUnknown,
} from "./option-checks.ts";
import {
  isStandardSchema,
  type InferInput,
  type InferOutput,
  type StandardSchema,
} from "./standard-schema.ts";
import { cleanText, show } from "./text.ts";

export { checkEnqueueOptions, itemOptions } from "./enqueue-options.ts";
export type { DueOptions, EnqueueOptions } from "./enqueue-options.ts";

export const DEFAULT_QUEUE = "default";
export const DEFAULT_PRIORITY = 100;
export const DEFAULT_MAX_CRASHES = 3;

/** A category, or the parts of a classification to change; undefined leaves it as it is. */
export type Classify = (error: unknown) => ErrorCategory | Partial<Classification> | undefined;

/** What is stored of what a result schema makes; without one, the handler decides. */
export type ResultOf<Schema extends StandardSchema | undefined> = Schema extends StandardSchema
  ? StoredResult<InferOutput<Schema>>
  : unknown;
/** What a handler must return for it. */
export type ReturnedOf<Schema extends StandardSchema | undefined> = Schema extends StandardSchema
  ? InferInput<Schema>
  : unknown;

/** What its handler gets. */
type HandledPayload<Schema extends StandardSchema | undefined> = Schema extends StandardSchema
  ? InferOutput<Schema>
  : unknown;

/** What `defineJob` takes. */
export interface JobOptions<
  Type extends string = string,
  PayloadSchema extends StandardSchema | undefined = StandardSchema | undefined,
  ResultSchema extends StandardSchema | undefined = StandardSchema | undefined,
> {
  /** Which handler runs it: `"email.send"`. */
  readonly type: Type;
  /** Default `"default"`. */
  readonly queue?: string | undefined;
  /** Any Standard Schema. Its input is stored, as JSON; the handler gets its output. */
  readonly payload?: PayloadSchema;
  /** Of what the handler returns; its output is stored. A result that does not fit fails the attempt for good. */
  readonly result?: ResultSchema;
  readonly retry?: RetryPolicy | undefined;
  /** How long one attempt may run. Default null: as long as it likes. */
  readonly timeoutMs?: number | null | undefined;
  /** 0 to 8191, lower first. Default 100. */
  readonly priority?: number | undefined;
  /** `"payload"`: a job with the same payload is a duplicate. */
  readonly dedupe?: "payload" | undefined;
  readonly idempotencyTtlMs?: number | "until-finished" | undefined;
  readonly onDuplicate?: "return" | "throw" | undefined;
  readonly onConflict?: "return" | "throw" | undefined;
  readonly classify?: Classify | undefined;
  /** After so many crashes the job is a dead letter, with the reason `poison`. Default 3. */
  readonly maxCrashes?: number | undefined;
  /**
   * What a running handler does while the store is away for longer than its lease. `"abort"`, the default:
   * its signal aborts and the job is handed back, no attempt spent. `"continue"`: it goes on, and what it
   * says waits for the store; for the length of a partition two may then run at once.
   */
  readonly onOutage?: "abort" | "continue" | undefined;
  /** Work of one owner, key and scope runs once at a time, and not again once it is done. */
  readonly lock?: LockOptions<HandledPayload<PayloadSchema>> | undefined;
  readonly tags?: readonly string[] | undefined;
  /** What a person should do when jobs of this type die: alerts show it. */
  readonly guidance?: string | undefined;
  /** Where that is written, or done: `https://…`. Alerts show it. */
  readonly link?: string | undefined;
}

/** A checked contract with every default filled in. */
export interface JobContract<
  Type extends string = string,
  Input = unknown,
  Output = Input,
  Result = unknown,
  Returned = Result,
> {
  readonly type: Type;
  readonly queue: string;
  readonly payload: StandardSchema<Input, Output> | null;
  readonly result: StandardSchema<Returned, unknown> | null;
  readonly retry: ResolvedRetry;
  readonly timeoutMs: number | null;
  readonly priority: number;
  readonly dedupe: "payload" | null;
  /** Null: as long as the job is kept. */
  readonly idempotencyTtlMs: number | "until-finished" | null;
  readonly onDuplicate: "return" | "throw";
  readonly onConflict: "return" | "throw";
  readonly classify: Classify | null;
  readonly maxCrashes: number;
  readonly onOutage: "abort" | "continue";
  readonly lock: ResolvedLock | null;
  readonly tags: readonly string[];
  readonly guidance: string | null;
  readonly link: string | null;
  /** An item for `enqueueAll`. */
  of(payload: Input, options?: EnqueueOptions): JobItem<Type, Input, Result>;
}

/** One job for `enqueueAll`: made by `contract.of`, or written as `{ type, payload, …options }`. */
export type JobItem<
  Type extends string = string,
  Input = unknown,
  Result = unknown,
> = EnqueueOptions & {
  readonly type: Type;
  readonly payload: Input;
  /** Set by `of`: the item is checked and routed by it, whether or not the type is registered. */
  readonly contract?: JobContract<Type, Input, unknown, Result, unknown> | undefined;
};

const OPTIONS = [
  "type",
  "queue",
  "payload",
  "result",
  "retry",
  "timeoutMs",
  "priority",
  "dedupe",
  "idempotencyTtlMs",
  "onDuplicate",
  "onConflict",
  "classify",
  "maxCrashes",
  "onOutage",
  "lock",
  "tags",
  "guidance",
  "link",
];
const MAX_GUIDANCE = 1_000;

/** With a schema, everything is inferred. */
export function defineJob<
  const Type extends string,
  PayloadSchema extends StandardSchema,
  ResultSchema extends StandardSchema | undefined,
>(
  options: JobOptions<Type, PayloadSchema, ResultSchema> & { readonly payload: PayloadSchema },
): JobContract<
  Type,
  InferInput<PayloadSchema>,
  InferOutput<PayloadSchema>,
  ResultOf<ResultSchema>,
  ReturnedOf<ResultSchema>
>;
/** Without a schema, the payload is `unknown` … */
export function defineJob<
  const Type extends string,
  ResultSchema extends StandardSchema | undefined,
>(
  options: JobOptions<Type, undefined, ResultSchema>,
): JobContract<Type, unknown, unknown, ResultOf<ResultSchema>, ReturnedOf<ResultSchema>>;
/** … unless its type is named: `defineJob<{ to: string }>({ type: "email.send" })`. Nothing checks it at run time. */
export function defineJob<Payload, Result = unknown>(
  options: JobOptions<string, undefined, undefined>,
): JobContract<string, Payload, Payload, StoredResult<Result>, Result>;
export function defineJob(options: JobOptions): JobContract;
export function defineJob(options: JobOptions): JobContract {
  checkObject("what defineJob takes", options);
  if ("run" in options) {
    throw new InvalidOptionError(
      "a contract has no handler: give run to hf.define, or the contract to hf.handle",
    );
  }
  refuseUnknown("defineJob", options, OPTIONS);
  checkPolicy(options);
  const contract: JobContract = {
    type: checkName("type", options.type),
    queue: checkName("queue", options.queue ?? DEFAULT_QUEUE),
    payload: checkSchema("payload", options.payload),
    result: checkSchema("result", options.result),
    retry: checkRetry(options.retry),
    timeoutMs: checkTimeout(options.timeoutMs ?? null),
    priority: options.priority ?? DEFAULT_PRIORITY,
    dedupe: options.dedupe ?? null,
    idempotencyTtlMs: options.idempotencyTtlMs ?? null,
    onDuplicate: options.onDuplicate ?? "return",
    onConflict: options.onConflict ?? "throw",
    classify: checkClassify(options.classify),
    maxCrashes: checkWhole("maxCrashes", options.maxCrashes ?? DEFAULT_MAX_CRASHES, {
      min: 1,
      max: 1000,
    }),
    onOutage: checkOneOf("onOutage", options.onOutage ?? "abort", ["abort", "continue"]),
    lock: checkLock(options.lock),
    tags: Object.freeze(checkTags(options.tags ?? [])),
    guidance: options.guidance === undefined ? null : checkGuidance(options.guidance),
    link: options.link === undefined ? null : checkLink(options.link),
    of: (payload, itemOptions) => ({ ...itemOptions, type: contract.type, payload, contract }),
  };
  return Object.freeze(contract);
}

/**
 * A contract of `defineJob` or `hf.define`, of this copy of the package or of another. What only looks
 * like one, such as bare options, would be enqueued with half of its rules.
 */
export function isContract(value: unknown): value is JobContract {
  if (typeof value !== "object" || value === null) return false;
  const { type, queue, retry, of } = value as Partial<JobContract>;
  const isNamed = typeof type === "string" && typeof queue === "string";
  return isNamed && typeof retry === "object" && typeof of === "function";
}

/** What a call takes that concerns one type: its contract or its name. */
export function checkTarget(what: string, target: unknown): JobContract | string {
  if (typeof target === "string") return checkName("type", target);
  if (isContract(target)) return target;
  throw new InvalidOptionError(
    `${what} takes a contract made by defineJob or hf.define, or the name of a type, not ${show(target)}`,
  );
}

function checkSchema(what: string, schema: unknown): StandardSchema | null {
  if (schema === undefined) return null;
  if (isStandardSchema(schema)) return schema;
  throw new InvalidOptionError(
    `${what} must be a Standard Schema (of zod 3.24+, valibot, arktype, …), not ${show(schema)}`,
  );
}

function checkGuidance(guidance: unknown): string {
  const text = cleanText(checkText("guidance", guidance), MAX_GUIDANCE);
  if (text !== "" && text === guidance) return text;
  throw new InvalidOptionError(
    `guidance must have 1 to ${MAX_GUIDANCE} printable characters: put the rest where link leads`,
  );
}

/** People click on it: nothing but a page of the web. */
function checkLink(link: unknown): string {
  if (typeof link === "string" && link.length <= 2_000 && /^https?:\/\/[^\s"<>]+$/.test(link)) {
    return link;
  }
  throw new InvalidOptionError(
    `link must be an address that begins with https://, not ${show(link)}`,
  );
}

function checkTimeout(timeoutMs: number | null): number | null {
  return timeoutMs === null
    ? null
    : checkWhole("timeoutMs", timeoutMs, { min: 1, max: MAX_DURATION_MS });
}

function checkClassify(classify: Classify | undefined): Classify | null {
  if (classify === undefined) return null;
  checkFunction("classify", classify);
  return classify;
}
