/** From what a caller typed to a job the store can take: checked, encoded, routed, keyed. */
import { createHash } from "node:crypto";
import {
  checkEnqueueOptions,
  checkTarget,
  DEFAULT_PRIORITY,
  isContract,
  type EnqueueOptions,
  type JobContract,
} from "../../core/contract.ts";
import { UnknownTypeError } from "../../core/errors.ts";
import { withExpiry } from "../../core/expiry.ts";
import { dedupeText } from "../../core/idempotency.ts";
import type { DedupeKey, NewJob } from "../../core/job.ts";
import { encodeJson, encodeStored } from "../../core/json-text.ts";
import { checkName, checkTags } from "../../core/names.ts";
import { validateWith } from "../../core/standard-schema.ts";
import type { Registry } from "../registry.ts";
import type { Runtime } from "../runtime.ts";

const MAX_META_BYTES = 16 * 1024;
const NO_OPTIONS: EnqueueOptions = Object.freeze({});
const NO_TAGS: readonly string[] = Object.freeze([]);

/** A job ready for `insert`, with what the caller wants to happen if it is there already. */
export interface ComposedJob {
  readonly job: NewJob;
  readonly onDuplicate: "return" | "throw";
  readonly onConflict: "return" | "throw";
}

export interface ComposerOptions {
  readonly runtime: Runtime;
  readonly registry: Registry;
  readonly maxPayloadBytes: number;
  /** Puts it where it belongs. */
  readonly place: (job: NewJob) => void;
}

export class Composer {
  readonly #options: ComposerOptions;

  constructor(options: ComposerOptions) {
    this.#options = options;
  }

  /** A promise only if the schema is asynchronous. */
  compose(
    target: JobContract | string,
    payload: unknown,
    options: EnqueueOptions = NO_OPTIONS,
  ): ComposedJob | Promise<ComposedJob> {
    if (options !== NO_OPTIONS) checkEnqueueOptions(options);
    const contract = this.#contractOf(target, options);
    // A payload left out is null: most types that take none are called so.
    const given = payload === undefined ? null : payload;
    const limits = { what: "payload", maxBytes: this.#options.maxPayloadBytes };
    const { json, stored } = encodeStored(given, limits);
    if (contract?.payload) {
      const checked = checkStored(contract, stored, stored === given);
      if (checked instanceof Promise) {
        return checked.then(() => this.#finish(target, contract, json, options));
      }
    }
    return this.#finish(target, contract, json, options);
  }

  #contractOf(target: JobContract | string, options: EnqueueOptions): JobContract | null {
    if (typeof target !== "string") {
      if (isContract(target)) return target;
      checkTarget("enqueue", target);
    }
    const known = this.#options.registry.get(target);
    if (known) return known.contract;
    checkName("type", target);
    if (options.queue === undefined) {
      throw new UnknownTypeError(
        `type "${target}" is not known here, so neither is its queue: pass its contract in new Holdfast({ jobs }), or name the queue`,
      );
    }
    return null;
  }

  /** What is stored and hashed is the schema's input: the handler's side makes the output again. */
  #finish(
    target: JobContract | string,
    contract: JobContract | null,
    json: string,
    options: EnqueueOptions,
  ): ComposedJob {
    const type = typeof target === "string" ? target : target.type;
    const { runtime } = this.#options;
    const tags = options.tags ? checkTags(options.tags) : (contract?.tags ?? NO_TAGS);
    const { runAt } = options;
    const meta = withExpiry(options.meta, options);
    const job: NewJob = {
      id: runtime.id(),
      queue: options.queue ?? contract!.queue,
      group: options.group ?? "",
      type,
      payload: json,
      priority: options.priority ?? contract?.priority ?? DEFAULT_PRIORITY,
      delayMs: options.delayMs ?? 0,
      runAt: runAt ? runAt.getTime() : null,
      maxAttempts: options.maxAttempts ?? this.#options.registry.attemptsOf(contract),
      dedupe: dedupeKey(type, json, contract, options),
      tags,
      meta: meta ? encodeJson(meta, { what: "meta", maxBytes: MAX_META_BYTES }) : null,
      trace: options.trace ?? null,
    };
    this.#options.place(job);
    return {
      job,
      onDuplicate: options.onDuplicate ?? contract?.onDuplicate ?? "return",
      onConflict: options.onConflict ?? contract?.onConflict ?? "throw",
    };
  }
}

/**
 * The schema judges what is stored, not what was given: the handler's side gets only that. A Date that
 * passed here and came back as text would be a dead job.
 */
export function checkStored(contract: JobContract, stored: unknown, isAsGiven: boolean): unknown {
  const what = `the payload of ${contract.type}`;
  const named = isAsGiven
    ? what
    : `${what}, as JSON gives it back (a Date is a text there: take z.coerce.date() or its like),`;
  return validateWith(contract.payload!, stored, named);
}

/** Of type and canonical payload: key order does not matter. */
export function payloadHash(type: string, json: string): string {
  return createHash("sha256").update(dedupeText(type, json)).digest("hex");
}

function dedupeKey(
  type: string,
  json: string,
  contract: JobContract | null,
  options: EnqueueOptions,
): DedupeKey | null {
  const { idempotencyKey } = options;
  const byPayload = (options.dedupe ?? contract?.dedupe) === "payload";
  if (idempotencyKey === undefined && !byPayload) return null;
  const hash = payloadHash(type, json);
  const ttl = options.idempotencyTtlMs ?? contract?.idempotencyTtlMs ?? null;
  const lifetime = ttl === null ? "kept" : ttl === "until-finished" ? ttl : { ttlMs: ttl };
  return { key: idempotencyKey ?? `payload:${hash}`, hash, lifetime };
}
