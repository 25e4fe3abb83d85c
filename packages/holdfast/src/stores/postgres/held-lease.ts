/**
 * The lease a worker speaks of. Every write of a worker begins here: under the current fence it
 * happens, under any other it does not.
 */
import type { LeaseRef } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Row } from "./database.ts";
import type { Asker } from "./queue-book.ts";
import { isTrue, number, numberOrNull, text, textOrNull } from "./row-values.ts";
import type { Moving } from "./placement.ts";

export interface HeldLease extends Moving {
  readonly id: string;
  readonly type: string;
  /** What this lease added to `attempts`, so that giving back never takes too much. */
  readonly spent: number;
  readonly worker: string;
  readonly leasedAt: number;
  readonly isCancelAsked: boolean;
  readonly cancelReason: string | null;
  readonly cancelBy: string | null;
  readonly deferrals: number;
}

/** Of `leased l` and `job j`. */
export const LEASED_COLUMNS = `l.seq, l.q, l.grp, l.prio, l.attempts, l.max_attempts, l.crashes,
  l.fence, l.settled_fence, l.run_at, l.flags, j.id, j.type, l.spent, l.worker, l.leased_at,
  l.cancel_asked, l.cancel_reason, l.cancel_by,
  CASE WHEN l.flags & 1 = 1 THEN (SELECT t.deferrals FROM holdfast.job_details t WHERE t.seq = l.seq) END`;

const SEQS_OF = "SELECT id, seq FROM holdfast.job WHERE id = ANY ($1)";

/**
 * The job's number, so that renew and settle need no search, and its id, so that a handle that got
 * mixed up with another job's reference opens nothing.
 */
export function handleOf(seq: number, id: string): string {
  return `${seq}.${id}`;
}

/** The numbers of the jobs these speak of; 0 if there is no such job. Foreign handles cost a search. */
export async function seqsOf(db: Asker, refs: readonly LeaseRef[]): Promise<number[]> {
  const seqs = refs.map(seqOfHandle);
  if (!seqs.includes(0)) return seqs;
  const foreign = refs.filter(({ id }, index) => seqs[index] === 0 && isUuid(id));
  if (foreign.length === 0) return seqs;
  const rows = await db.rows(SEQS_OF, [foreign.map(({ id }) => id)]);
  const found = new Map(rows.map((row) => [text(row, 0), number(row, 1)]));
  return refs.map(({ id }, index) => seqs[index] || (found.get(id) ?? 0));
}

/** 0 unless the handle is what `handleOf` makes of this id. */
function seqOfHandle({ handle, id }: LeaseRef): number {
  const dot = handle.length - id.length - 1;
  if (!handle.endsWith(id) || handle[dot] !== ".") return 0;
  const seq = Number.parseInt(handle, 10);
  return seq > 0 && String(seq).length === dot ? seq : 0;
}

export function leaseOf(row: Row): HeldLease {
  return {
    seq: number(row, 0),
    q: number(row, 1),
    group: text(row, 2),
    prio: number(row, 3),
    attempts: number(row, 4),
    maxAttempts: number(row, 5),
    crashes: number(row, 6),
    fence: number(row, 7),
    settledFence: number(row, 8),
    runAt: numberOrNull(row, 9),
    flags: number(row, 10),
    id: text(row, 11),
    type: text(row, 12),
    spent: number(row, 13),
    worker: text(row, 14),
    leasedAt: number(row, 15),
    isCancelAsked: isTrue(row, 16),
    cancelReason: textOrNull(row, 17),
    cancelBy: textOrNull(row, 18),
    deferrals: numberOrNull(row, 19) ?? 0,
  };
}
