/**
 * What the fleet remembers of one subject: when it was told of last, what is being told, and which deaths wait
 * for the next time. Each dead job is counted once: a process that adds deaths writes down which ledger entries
 * it adds, before it marks those entries. One that dies in between leaves entries that are still new and are in
 * the last batch: whoever comes next marks them and adds nothing.
 */
import type { DeadAlert } from "./alert.ts";
import type { ErrorCategory } from "./job.ts";

export const HOUR_MS = 3_600_000;
/** Of dead jobs, an alert names so many. */
export const MOST_IDS = 1_000;

/** One dead job, from its entry in the ledger. */
export interface Death {
  /** Of the entry. */
  readonly entry: string;
  readonly jobId: string;
  readonly at: number;
  readonly type: string;
  readonly queue: string;
  readonly fingerprint: string | null;
  readonly body: DeathBody;
}

/** The body of a `death` entry. */
export interface DeathBody {
  readonly category: ErrorCategory;
  readonly reason: string;
  readonly attempts: number;
  readonly message: string;
  readonly guidance: string | null;
  readonly link: string | null;
}

/** Deaths of one fault that no alert has told of yet. */
export interface Gathered {
  readonly count: number;
  readonly ids: readonly string[];
  readonly firstAt: number;
  readonly last: Omit<Death, "entry" | "jobId">;
}

export interface AlertRecord {
  /** Null: never. */
  readonly toldAt: number | null;
  /** JSON text of an alert that was raised, and whose deliveries may not be stored yet. */
  readonly sending: string | null;
  readonly deaths: Gathered | null;
  /** For so long others leave the subject alone once it was told of. Absent: an hour. */
  readonly everyMs?: number;
  /** Entries that were added last. */
  readonly batch: readonly string[];
  /** Its writer's: a lost reply is told from a lost race. */
  readonly mark: string;
}

export const NOTHING_TOLD: Omit<AlertRecord, "mark"> = {
  ...{ toldAt: null, sending: null, deaths: null, batch: [] },
};

/** What of these has not been counted. */
export function uncounted(record: AlertRecord | null, deaths: readonly Death[]): readonly Death[] {
  const counted = new Set(record?.batch);
  return deaths.filter(({ entry }) => !counted.has(entry));
}

/**
 * With these deaths added: they must be new, all of one fault, and not empty. `unmarked` are all that somebody
 * may still find in the ledger as new: also those that another process has counted and not marked yet.
 */
export function gathered(
  record: Omit<AlertRecord, "mark">,
  deaths: readonly Death[],
  { mark, unmarked }: { readonly mark: string; readonly unmarked: readonly string[] },
): AlertRecord {
  const before = record.deaths;
  const inOrder = deaths.toSorted((a, b) => a.at - b.at);
  const [first, newest] = [inOrder[0]!, inOrder.at(-1)!];
  const { entry: _entry, jobId: _jobId, ...last } = newest;
  const ids = new Set([...(before?.ids ?? []), ...inOrder.map(({ jobId }) => jobId)]);
  return {
    ...record,
    deaths: {
      count: (before?.count ?? 0) + deaths.length,
      ids: [...ids].slice(0, MOST_IDS),
      firstAt: Math.min(before?.firstAt ?? first.at, first.at),
      last: before && before.last.at > last.at ? before.last : last,
    },
    batch: unmarked,
    mark,
  };
}

/** May an alert about this subject be raised now? */
export function isDue({ toldAt, sending }: Omit<AlertRecord, "mark">, now: number): boolean {
  return sending === null && (toldAt === null || now - toldAt >= HOUR_MS);
}

export function deadAlert(
  { count, ids, firstAt, last }: Gathered,
  { id, now }: { readonly id: string; readonly now: number },
): DeadAlert {
  const { type, queue, fingerprint, body } = last;
  const { category, attempts, reason, guidance, link } = body;
  const isUnrecoverable = category === "auth";
  const jobs = count === 1 ? `1 job of ${type} is dead` : `${count} jobs of ${type} are dead`;
  const advice = isUnrecoverable ? "; it has no right to do this, so a person must act" : "";
  return {
    ...{ id, kind: isUnrecoverable ? "unrecoverable" : "dead", at: new Date(now) },
    message: `${jobs}: ${body.message}${advice}`,
    ...{ fingerprint, type, queue, category, count, ids, attempts, error: body.message },
    ...{ reason, guidance, link, firstAt: new Date(firstAt), lastAt: new Date(last.at) },
  };
}

/** Raised: others leave the subject alone for an hour. */
export function raised(
  record: Omit<AlertRecord, "mark">,
  alert: string,
  mark: string,
  now: number,
): AlertRecord {
  return { ...record, toldAt: now, sending: alert, deaths: null, mark };
}
