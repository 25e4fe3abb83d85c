/**
 * Is this process doing its work? Not "is it up": a worker may be up, connected and deaf. What counts
 * is when the store last answered its request for jobs.
 */
import type { LastAnswer } from "../last-answer.ts";

export interface WorkerHealth {
  readonly id: string;
  /** It asked for jobs and got an answer within one lease length, or all its slots are taken. */
  readonly ok: boolean;
  /** The last answered request for jobs, by this host's clock. Null: none yet. */
  readonly lastLeaseAt: Date | null;
  /** The last call of any kind that the store answered to this worker. */
  readonly lastCallAt: Date | null;
  /** Jobs that run right now. */
  readonly running: number;
}

export interface Health {
  /** Never once `close` was called. Until then: all workers are; where there are none, the store answered the last enqueue, if there was one. */
  readonly ok: boolean;
  /** Of the worker that has been without an answer the longest. Null: none works, or one never had any. */
  readonly lastLeaseAt: Date | null;
  /** The last call of this process that the store answered. */
  readonly lastCallAt: Date | null;
  readonly workers: readonly WorkerHealth[];
  /** Jobs in the spool. Null: there is no spool, or it was not needed yet. */
  readonly spooled: number | null;
  /** Null unless the ledger is in another store. No job waits for it, so it does not count for `ok`. */
  readonly ledger: { readonly ok: boolean; readonly lastCallAt: Date | null } | null;
}

export interface LastAnswers {
  readonly workers: readonly WorkerHealth[];
  /** Null if there is no store. */
  readonly store: LastAnswer | null;
  /** Null unless it is elsewhere. */
  readonly ledger: LastAnswer | null;
  readonly spooled: number | null;
  readonly isClosed: boolean;
}

export function healthOf({ workers, store, ledger, spooled, isClosed }: LastAnswers): Health {
  const isServed = workers.length > 0 ? workers.every(({ ok }) => ok) : store?.isAway !== true;
  return {
    ok: isServed && !isClosed,
    lastLeaseAt: earliest(workers.map(({ lastLeaseAt }) => lastLeaseAt)),
    lastCallAt: store?.lastAt ?? null,
    workers,
    spooled,
    ledger: ledger && { ok: !ledger.isAway, lastCallAt: ledger.lastAt },
  };
}

function earliest(dates: readonly (Date | null)[]): Date | null {
  const known = dates.filter((date) => date !== null);
  if (known.length < dates.length || known.length === 0) return null;
  return known.reduce((one, other) => (other < one ? other : one));
}
