/**
 * Settling. Under the current fence everything is written, under any other nothing. What nearly every
 * settle is, a plain success, takes the short way (`settle-plainly.ts`); everything else takes the long
 * way here, many at once.
 *
 * The order inside the one step: updates, keys that are freed, spawned jobs, outcomes, entries. The
 * keys come before the spawned jobs so that a child may take the one its parent has just freed; the
 * outcomes after them, because what became of a child is noted with its parent.
 */
import { KeyBusyError } from "../../core/errors.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import { conclude, type Conclusion } from "./conclude.ts";
import type { Clock } from "./clock.ts";
import type { Row } from "./database.ts";
import { LEASED_COLUMNS, leaseOf, seqsOf, type HeldLease } from "./held-lease.ts";
import { insert } from "./insert.ts";
import { freeKeysUntilFinished } from "./keys.ts";
import { append } from "./ledger.ts";
import { addToOutbox } from "./outbox.ts";
import { bodyOf } from "./pinned.ts";
import { number, text } from "./row-values.ts";
import { spawnsWithKey } from "./settle-plainly.ts";
import { HAS_KEY, HAS_PAST, makeRoom, placeFinished, placeInLine } from "./placement.ts";
import { bury } from "./tombstones.ts";
import {
  addAttempts,
  addLogs,
  isEmpty,
  noteDetails,
  takeAlong,
  type LogsOf,
} from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

/** Who holds it ends it: from here on only this transaction can say what becomes of the job. */
const END = `
  DELETE FROM holdfast.leased l
  USING unnest($1::bigint[], $2::bigint[]) AS u (seq, fence), holdfast.job j
  WHERE l.seq = u.seq AND l.fence = u.fence AND j.seq = l.seq
  RETURNING ${LEASED_COLUMNS}`;
const SETTLED_FENCES = `
  SELECT j.id, coalesce(d.settled_fence, l.settled_fence, a.settled_fence, r.settled_fence)
  FROM unnest($1::bigint[]) AS u (seq) ${bodyOf("u")} AS j
  LEFT JOIN LATERAL (SELECT * FROM holdfast.done x WHERE x.seq = j.seq OFFSET 0) d ON true
  LEFT JOIN LATERAL (SELECT * FROM holdfast.leased x WHERE x.seq = j.seq OFFSET 0) l ON true
  LEFT JOIN LATERAL (SELECT * FROM holdfast.delayed x WHERE x.seq = j.seq OFFSET 0) a ON true
  LEFT JOIN LATERAL (SELECT * FROM holdfast.ready x WHERE x.q = j.q AND x.grp = j.grp
    AND x.prio = j.prio AND x.seq = j.seq OFFSET 0) r ON true
  UNION ALL
  SELECT g.id, g.settled_fence FROM holdfast.gone g WHERE g.id = ANY ($2) AND g.forget_at > $3`;

const BUSY_CHILD =
  "another open transaction is taking or freeing the idempotency key of a spawned job: try again once it has ended";

/** One settlement that its holder may make, and what comes of it. */
interface Ending extends Conclusion {
  readonly settlement: Settlement;
}

export interface LongHow {
  readonly clock: Clock;
  /** The numbers of the queues that jobs are spawned into. */
  readonly queues: ReadonlyMap<string, number>;
}

export async function settle(
  tx: Transaction,
  settlements: readonly Settlement[],
  how: LongHow,
): Promise<SettleResult[]> {
  const seqs = await seqsOf(tx, settlements);
  const leases = await endLeases(tx, settlements, seqs);
  const endings: Ending[] = [];
  const results = settlements.map((settlement, index): SettleResult | null => {
    const seq = seqs[index] ?? 0;
    const lease = leases.get(seq);
    if (lease === undefined) return null;
    const isOver = endings.some((ending) => ending.lease.seq === seq);
    if (lease.fence !== settlement.fence) {
      // The repeat of the attempt before, as long as this one has not ended.
      return !isOver && isRepeat(settlement, lease.settledFence) ? "settled" : "lost";
    }
    // The same settle twice in one call is done once.
    if (!isOver) endings.push({ settlement, ...conclude(lease, settlement, tx.now) });
    return "settled";
  });
  for (const run of inKeyOrder(endings)) await write(tx, run, how);
  const settled = await settledBefore(tx, settlements, { seqs, results });
  return settlements.map(
    (settlement, index) =>
      results[index] ?? (isRepeat(settlement, settled.get(settlement.id)) ? "settled" : "lost"),
  );
}

/** 0: it was never settled. */
function isRepeat({ fence }: Settlement, settledFence = 0): boolean {
  return settledFence !== 0 && fence === settledFence;
}

/**
 * Cut where a job frees a key that a job spawned before it may have wanted. Nearly always this is one
 * run.
 */
function inKeyOrder(endings: readonly Ending[]): Ending[][] {
  const runs: Ending[][] = [[]];
  let hasSpawned = false;
  for (const ending of endings) {
    const { lease, finished, settlement } = ending;
    if (hasSpawned && finished !== null && (lease.flags & HAS_KEY) !== 0) {
      runs.push([]);
      hasSpawned = false;
    }
    runs.at(-1)?.push(ending);
    hasSpawned ||= spawnsWithKey(settlement);
  }
  return runs;
}

async function endLeases(
  tx: Transaction,
  settlements: readonly Settlement[],
  seqs: readonly number[],
): Promise<Map<number, HeldLease>> {
  const asked = settlements
    .map(({ fence }, index) => ({ seq: seqs[index] ?? 0, fence }))
    .sort((a, b) => a.seq - b.seq);
  const rows = await tx.rows(END, [asked.map(({ seq }) => seq), asked.map(({ fence }) => fence)]);
  return new Map(rows.map((row) => [number(row, 0), leaseOf(row)]));
}

/** The fences of the last settles of those that nobody holds: is this the repeat of one? */
async function settledBefore(
  tx: Transaction,
  settlements: readonly Settlement[],
  { seqs, results }: { seqs: readonly number[]; results: readonly (SettleResult | null)[] },
): Promise<Map<string, number>> {
  const open = settlements.map((_, index) => index).filter((index) => results[index] === null);
  if (open.length === 0) return new Map();
  const ids = open.map((index) => settlements[index]?.id ?? "").filter(isUuid);
  const known = open.map((index) => seqs[index] ?? 0);
  const rows = await tx.rows(SETTLED_FENCES, [known, ids, tx.now]);
  return new Map(rows.map((row: Row) => [text(row, 0), number(row, 1)]));
}

async function write(tx: Transaction, endings: readonly Ending[], how: LongHow): Promise<void> {
  if (endings.length === 0) return;
  const isGone = ({ settlement, finished }: Ending): boolean =>
    settlement.discard === true && finished !== null;
  const gone = endings.filter(isGone);
  const kept = endings.filter((ending) => !isGone(ending));
  await takeAlong(
    tx,
    kept.map(({ lease, settlement }) => ({ seq: lease.seq, updates: settlement.updates ?? {} })),
  );
  const over = endings.filter(({ finished }) => finished !== null);
  const keyed = over.filter(({ lease }) => (lease.flags & HAS_KEY) !== 0);
  await freeKeysUntilFinished(
    tx,
    keyed.map(({ lease }) => lease.seq),
  );
  await bury(
    tx,
    gone.map(({ lease }) => ({
      seq: lease.seq,
      settledFence: lease.fence,
      hasPast: (lease.flags & HAS_PAST) !== 0,
    })),
  );
  const notes = await spawn(tx, endings, how);
  await writeKept(tx, kept, notes);
  await append(
    tx,
    endings.flatMap(({ settlement }) => settlement.entries ?? []),
  );
  await addToOutbox(
    tx,
    endings.flatMap(({ settlement: { id, fence, outbox = [] } }) =>
      outbox.length === 0 ? [] : [{ id: `${id}:${fence}`, entries: outbox }],
    ),
  );
  for (const { lease } of over) tx.finished.push(lease.id);
  await makeRoom(
    tx,
    endings.map(({ lease }) => lease),
  );
}

/** What stays of the jobs: where they stand, and what happened to them. */
async function writeKept(
  tx: Transaction,
  kept: readonly Ending[],
  notes: ReadonlyMap<number, LogsOf>,
): Promise<void> {
  await noteDetails(
    tx,
    kept.flatMap(({ lease, details }) =>
      details === null ? [] : [{ seq: lease.seq, change: details }],
    ),
  );
  await addAttempts(
    tx,
    kept.flatMap(({ lease, record }) =>
      record === null ? [] : [{ seq: lease.seq, records: [record] }],
    ),
  );
  await addLogs(
    tx,
    kept.flatMap(({ lease }) => notes.get(lease.seq) ?? []),
  );
  const flagsOf = ({ lease, details, record, settlement }: Ending): number => {
    const hasPast = details !== null || record !== null || notes.has(lease.seq);
    return lease.flags | (hasPast || !isEmpty(settlement.updates) ? HAS_PAST : 0);
  };
  await placeInLine(
    tx,
    kept.flatMap((ending) =>
      ending.back === null ? [] : [{ ...ending.back, flags: flagsOf(ending) }],
    ),
  );
  await placeFinished(
    tx,
    kept.flatMap((ending) =>
      ending.finished === null ? [] : [{ ...ending.finished, flags: flagsOf(ending) }],
    ),
  );
}

/** Stores the spawned jobs. Answers, by parent, what its log has to say of those that were dropped. */
async function spawn(
  tx: Transaction,
  endings: readonly Ending[],
  { clock, queues }: LongHow,
): Promise<Map<number, LogsOf>> {
  const children = endings.flatMap(({ lease, settlement }) =>
    (settlement.spawn ?? []).map((job) => ({ parent: lease.seq, job })),
  );
  const notes = new Map<number, LogsOf>();
  if (children.length === 0) return notes;
  const jobs = children.map(({ job }) => job);
  const how = { clock, queues, evenIfFull: true, isLate: tx.isLate };
  const results = await insert(tx, jobs, how);
  for (const [index, { parent, job }] of children.entries()) {
    const result = results[index];
    // Its parent cannot end without it, and dropping it would break a promise.
    if (result?.outcome === "busy") throw new KeyBusyError(BUSY_CHILD);
    if (result?.outcome !== "duplicate" && result?.outcome !== "conflict") continue;
    const why = result.outcome === "duplicate" ? "duplicate of" : "conflict with";
    const line = { at: tx.now, text: `spawned job ${job.id} dropped: ${why} ${result.id}` };
    const lines = [...(notes.get(parent)?.lines ?? []), line];
    notes.set(parent, { seq: parent, lines });
  }
  return notes;
}
