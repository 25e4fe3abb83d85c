/**
 * The ledger: the durable record of failures, audits and schedule runs. It outlives the jobs it
 * speaks of and may live in another store than they do.
 */
import type { ErrorCategory } from "./job.ts";
import type { Records } from "./records.ts";

export interface LedgerEntry {
  /** Fixed by the writer, so that appending again changes nothing. */
  readonly id: string;
  /** `failure`, `audit`, `tick`, … */
  readonly kind: string;
  readonly jobId: string | null;
  readonly type: string | null;
  readonly queue: string | null;
  readonly group: string | null;
  readonly category: string | null;
  /** Equal for entries that look alike. */
  readonly fingerprint?: string | null;
  /** The customer it concerns, where the writer knows. */
  readonly company?: string | null;
  /** Of a failure: nothing came after it. */
  readonly isFinal?: boolean | null;
  /** What has become of it: `open`, `retrying`, `resolved`, … The writer's words. */
  readonly state: string;
  /** JSON text. */
  readonly body: string;
  /** Null: the ledger's clock at the first append. */
  readonly at: number | null;
}

export interface StoredEntry extends LedgerEntry {
  readonly fingerprint: string | null;
  readonly company: string | null;
  readonly isFinal: boolean | null;
  readonly at: number;
  readonly amendedAt: number | null;
}

export interface LedgerFilter {
  readonly ids?: readonly string[];
  readonly kind?: string;
  readonly jobId?: string;
  readonly type?: string;
  readonly queue?: string;
  readonly group?: string;
  readonly category?: string;
  readonly fingerprint?: string;
  readonly company?: string;
  readonly isFinal?: boolean;
  readonly state?: string;
  /** Inclusive. */
  readonly from?: number;
  /** Exclusive. */
  readonly to?: number;
}

export interface LedgerPage {
  readonly entries: readonly StoredEntry[];
  readonly nextCursor: string | null;
}

export interface Amendment {
  readonly id: string;
  readonly state?: string;
  readonly body?: string;
}

export interface Ledger {
  /** `duplicate`: an entry of this id is there already and stays as it is. */
  append(entries: readonly LedgerEntry[]): Promise<("added" | "duplicate")[]>;
  /**
   * Newest first, stable under change. A page by kind is full, alone or with one of queue, type, category,
   * fingerprint, state or job; any other filter does a bounded step per call: a short page may have a cursor.
   */
  read(
    filter: LedgerFilter,
    page: { readonly limit: number; readonly cursor?: string | null },
  ): Promise<LedgerPage>;
  /** Replaces state, body or both; everything else of an entry is for ever. */
  amend(amendments: readonly Amendment[]): Promise<("amended" | "missing")[]>;
  /** How many there are, counted to `upTo`. */
  count(filter: LedgerFilter, upTo: number): Promise<number>;
  /** Removes at most `limit` entries of a kind that are past either bound, oldest first; answers how many. */
  trim(request: TrimRequest): Promise<number>;
  /** Forgets these entries, as if they had never been; answers how many were there. */
  remove(ids: readonly string[]): Promise<number>;
}

export interface TrimRequest {
  readonly kind: string;
  /** Null: no bound by age. */
  readonly olderThanMs: number | null;
  /** Keep the newest so many; null: no bound by count. */
  readonly keep: number | null;
  readonly limit: number;
}

/** Records with entries that wait for a ledger elsewhere: they came with no settle, or were in the way in the outbox. */
export const WAITING_ENTRIES = "holdfast/entry/";

/** What is asked of a store that keeps a ledger for the jobs of another one. Every `Store` fits. */
export interface LedgerStore {
  open(): Promise<void>;
  close(): Promise<void>;
  readonly ledger: Ledger;
  readonly records: Records;
}

/** The kinds that the engine writes by itself. */
export const LEDGER_KINDS = ["failure", "audit", "tick"] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/**
 * The body of a `failure`: one failed attempt. Its entry is `retrying` while attempts are left, and
 * `open` if the job died of it: a dead letter.
 */
export interface FailureBody {
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Nothing comes after it: the job is a dead letter. */
  readonly isFinal: boolean;
  /** Why it is dead: `failed`, `permanent`, `crashed`, …; null if it is tried again. */
  readonly reason: string | null;
  readonly retryInMs: number | null;
  readonly category: ErrorCategory;
  readonly message: string;
  readonly stack: string | null;
  readonly fingerprint: string | null;
  readonly worker: string;
  readonly fence: number;
  /** As it was stored, secrets hidden; `{ truncated }` with its head if it was too long. */
  readonly payload: unknown;
  /** Who set it right, and how they said so; once it is resolved. */
  readonly resolvedBy?: string | null;
  readonly resolution?: string | null;
}

/**
 * The body of an `audit`: what somebody did to a job or a line. Its entry is `done`, or `asked` if a
 * running job was only asked to stop.
 */
export interface AuditBody {
  /** `cancel`, `retry`, `remove`, `pause`, `resume`, `limit`, … */
  readonly action: string;
  readonly by: string | null;
  readonly reason: string | null;
  /** The worker whose handler did it; null: an operator did. */
  readonly worker: string | null;
  /** What else was said: the end of a pause, the bounds of a limit. */
  readonly details: Readonly<Record<string, unknown>>;
}
