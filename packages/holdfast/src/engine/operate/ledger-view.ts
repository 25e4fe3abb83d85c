/** The ledger as people and programs see it: parsed, with dates. */
import type { LedgerFilter, StoredEntry } from "../../core/ledger.ts";
import { decodeJson } from "../../core/json-text.ts";
import { fillPage } from "./fill-page.ts";
import {
  checkDate,
  checkFlag,
  checkOptions,
  checkText,
  checkWhole,
} from "../../core/option-checks.ts";
import type { Runtime } from "../runtime.ts";
import type { LedgerWriter } from "../settle/ledger-writer.ts";

export interface LedgerQuery {
  /** `failure`, `audit`, … */
  readonly kind?: string | undefined;
  readonly jobId?: string | undefined;
  readonly type?: string | undefined;
  readonly queue?: string | undefined;
  readonly group?: string | undefined;
  readonly category?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly company?: string | undefined;
  readonly isFinal?: boolean | undefined;
  readonly state?: string | undefined;
  /** At or after. */
  readonly from?: Date | undefined;
  /** Before. */
  readonly to?: Date | undefined;
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface LedgerEntryView {
  readonly id: string;
  readonly kind: string;
  readonly jobId: string | null;
  readonly type: string | null;
  readonly queue: string | null;
  readonly group: string | null;
  readonly category: string | null;
  readonly fingerprint: string | null;
  readonly company: string | null;
  /** Of a failure: nothing came after it. */
  readonly isFinal: boolean | null;
  readonly state: string;
  /** Of a failure a `FailureBody`, of an audit an `AuditBody`. */
  readonly body: unknown;
  readonly at: Date;
  readonly amendedAt: Date | null;
}

export interface LedgerEntries {
  /** Newest first. */
  readonly entries: readonly LedgerEntryView[];
  /** Null on the last page. A page may be short and still have one. */
  readonly nextCursor: string | null;
}

const WORDS = [
  ...(["kind", "jobId", "type", "queue", "group", "category"] as const),
  ...(["fingerprint", "company", "state"] as const),
];

export async function readLedger(
  { ledgerWriter, runtime }: { ledgerWriter: LedgerWriter; runtime: Runtime },
  query: LedgerQuery,
): Promise<LedgerEntries> {
  checkOptions("ledger", query, [...WORDS, "isFinal", "from", "to", "limit", "cursor"]);
  const { limit = 50, cursor = null } = query;
  checkWhole("limit", limit, { min: 1, max: 200 });
  const filter = filterOf(query);
  const { items, nextCursor } = await fillPage({ limit, cursor, runtime }, async (page) => {
    const found = await ledgerWriter.ask((ledger) => ledger.read(filter, page));
    return { items: found.entries, nextCursor: found.nextCursor };
  });
  return { entries: items.map(entryView), nextCursor };
}

function filterOf(query: LedgerQuery): LedgerFilter {
  const filter: Record<string, unknown> = {};
  for (const word of WORDS) {
    const value: unknown = query[word];
    if (value === undefined) continue;
    filter[word] = checkText(word, value);
  }
  if (query.isFinal !== undefined) {
    checkFlag("isFinal", query.isFinal);
    filter.isFinal = query.isFinal;
  }
  for (const end of ["from", "to"] as const) {
    const date: unknown = query[end];
    if (date === undefined) continue;
    filter[end] = checkDate(end, date);
  }
  return filter;
}

function entryView({ body, at, amendedAt, ...entry }: StoredEntry): LedgerEntryView {
  return {
    ...entry,
    body: decodeJson(body),
    at: new Date(at),
    amendedAt: amendedAt === null ? null : new Date(amendedAt),
  };
}
