/**
 * What the ledger says of an action. Its id is drawn once by the caller, so that an entry that is written
 * or carried again is the same entry.
 */
import type { AuditBody, LedgerEntry } from "../../core/ledger.ts";

/** What an entry is about, as far as it is known. */
export interface About {
  readonly jobId?: string;
  readonly type?: string;
  readonly queue?: string;
  /** `""` and null: no group. */
  readonly group?: string | null;
  readonly state?: string;
  readonly at: number | null;
}

export function auditEntry(id: string, body: AuditBody, about: About): LedgerEntry {
  return {
    id,
    kind: "audit",
    jobId: about.jobId ?? null,
    type: about.type ?? null,
    queue: about.queue ?? null,
    group: about.group || null,
    category: null,
    state: about.state ?? "done",
    body: JSON.stringify(body),
    at: about.at,
  };
}
