/**
 * Small shared state of applications and batteries: documents with a key and a version, changed only by who
 * knows that version. They have a prefix of their own, so that no key reaches Holdfast's records.
 *
 * A lost reply to `swap` leaves its caller in doubt. A value that carries a mark of its writer tells: if the
 * record that is there has it, the swap happened.
 */
import { InvalidCursorError, InvalidOptionError } from "../../core/errors.ts";
import { decodeJson, encodeJson } from "../../core/json-text.ts";
import { checkRecordKey } from "../../core/names.ts";
import { checkOptions, checkWhole, MAX_DURATION_MS } from "../../core/option-checks.ts";
import type { Records, StoredRecord, Swap } from "../../core/records.ts";

const PREFIX = "app/";
const MAX_RECORD_BYTES = 64 * 1024;
const MOST_AT_ONCE = 100;
const MOST_LISTED = 200;

export interface AppRecord<Value = unknown> {
  readonly key: string;
  /** Grows with every change, also if the record was deleted in between. */
  readonly version: number;
  readonly value: Value;
  readonly expiresAt: Date | null;
}

export interface AppSwap {
  readonly key: string;
  /** The version that was read; null: there must be no record of this key. */
  readonly expect: number | null;
  /** Anything that JSON can say, up to 64 KiB; null deletes the record. */
  readonly value: unknown;
  /** It is gone after this. Default: never. */
  readonly ttlMs?: number | null | undefined;
}

export type AppSwapResult<Value = unknown> =
  /** `version` is null after a deletion. */
  | { readonly swapped: true; readonly version: number | null }
  /** `current`: what is there instead of what was expected. */
  | { readonly swapped: false; readonly current: AppRecord<Value> | null };

export interface AppRecordsPage<Value = unknown> {
  readonly records: readonly AppRecord<Value>[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export class AppRecords {
  readonly #records: () => Promise<Records>;

  /** Resolves once the store is open. */
  constructor(records: () => Promise<Records>) {
    this.#records = records;
  }

  /** Null if there is none. */
  async get<Value = unknown>(key: string): Promise<AppRecord<Value> | null> {
    const [record] = await this.read<Value>([key]);
    return record ?? null;
  }

  /** In the order of the keys, at most 100. */
  async read<Value = unknown>(keys: readonly string[]): Promise<(AppRecord<Value> | null)[]> {
    checkList("records.read", keys, "keys");
    const stored = keys.map((key) => PREFIX + checkRecordKey(key));
    const records = await this.#records();
    if (stored.length === 0) return [];
    return (await records.read(stored)).map((record) => record && viewOf<Value>(record));
  }

  /** Each stands alone: one that lost its race does not hinder the others. At most 100. */
  async swap<Value = unknown>(swaps: readonly AppSwap[]): Promise<AppSwapResult<Value>[]> {
    checkList("records.swap", swaps, "swaps");
    const checked = swaps.map(checkSwap);
    const records = await this.#records();
    if (checked.length === 0) return [];
    const results = await records.swap(checked);
    return results.map((result) =>
      result.swapped
        ? result
        : { swapped: false, current: result.current && viewOf<Value>(result.current) },
    );
  }

  /** Those whose keys begin with the prefix, in the order of their keys. */
  async list<Value = unknown>(
    query: {
      readonly prefix?: string | undefined;
      /** 1 to 200, default 50. */
      readonly limit?: number | undefined;
      readonly cursor?: string | null | undefined;
    } = {},
  ): Promise<AppRecordsPage<Value>> {
    checkOptions("records.list", query, ["prefix", "limit", "cursor"]);
    const { prefix = "", cursor = null } = query;
    if (prefix !== "") checkRecordKey(prefix);
    const limit = checkWhole("limit", query.limit ?? 50, { min: 1, max: MOST_LISTED });
    if (cursor !== null && typeof cursor !== "string") {
      throw new InvalidCursorError("a cursor is the nextCursor of the page before, or null");
    }
    const records = await this.#records();
    // A cursor from elsewhere is refused by the store.
    const page = await records.scan({ prefix: PREFIX + prefix, limit, cursor });
    return {
      records: page.records.map((record) => viewOf<Value>(record)),
      nextCursor: page.nextCursor,
    };
  }
}

function checkList(what: string, given: unknown, named: string): void {
  if (Array.isArray(given) && given.length <= MOST_AT_ONCE) return;
  throw new InvalidOptionError(`${what} takes an array of at most ${MOST_AT_ONCE} ${named}`);
}

function checkSwap(swap: AppSwap): Swap {
  checkOptions("a swap", swap, ["key", "expect", "value", "ttlMs"]);
  const { expect, value, ttlMs = null } = swap;
  const key = checkRecordKey(swap.key);
  if (expect === undefined || value === undefined) {
    throw new InvalidOptionError(
      "a swap names the version it expects (null: no record) and the value (null deletes)",
    );
  }
  if (expect !== null) checkWhole("expect", expect, { min: 0, max: Number.MAX_SAFE_INTEGER });
  if (ttlMs !== null) checkWhole("ttlMs", ttlMs, { min: 1, max: MAX_DURATION_MS });
  const limits = { what: "the value of a record", maxBytes: MAX_RECORD_BYTES };
  return {
    ...{ key: PREFIX + key, expect, ttlMs },
    value: value === null ? null : encodeJson(value, limits),
  };
}

function viewOf<Value>({ key, version, value, expiresAt }: StoredRecord): AppRecord<Value> {
  return {
    ...{ key: key.slice(PREFIX.length), version, value: decodeJson(value) as Value },
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}
