/**
 * Settling. Under the current fence everything is written, under any other nothing. What nearly every
 * settle is, a plain success, takes one call inside the database (`settle-function.ts`); everything
 * else takes the long way here, many at once.
 *
 * The order inside the one step: riders, keys that are freed, spawned jobs, outcomes, entries. The
 * keys come before the spawned jobs so that a child may take the one its parent has just freed; the
 * outcomes after them, because what became of a child is noted with its parent.
 */
import type { Settlement, SettleResult } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import { conclude, type Conclusion } from "./conclude.ts";
import { wholeMs, type Clock } from "./clock.ts";
import type { Row } from "./database.ts";
import { LEASED_COLUMNS, leaseOf, seqsOf, type HeldLease } from "./held-lease.ts";
import { insert } from "./insert.ts";
import { freeKeysUntilFinished } from "./keys.ts";
import { append } from "./ledger.ts";
import { addToOutbox } from "./outbox.ts";
import type { Asker } from "./queue-book.ts";
import { number, numbers, text } from "./row-values.ts";
import { HAS_KEY, HAS_PAST, standFinished, standInLine, wakeForRoom } from "./standing.ts";
import { bury } from "./tombstones.ts";
import { addAttempts, addLogs, isEmpty, noteTrails, takeAlong, type LogsOf } from "./trail.ts";
import type { Transaction } from "./transaction.ts";

const SETTLE_PLAIN = "SELECT * FROM holdfast.settle_plain($1, $2, $3, $4, $5, $6, $7, $8)";
/** Who holds it ends it: from here on only this transaction can say what becomes of the job. */
const END = `
  DELETE FROM holdfast.leased l
  USING unnest($1::bigint[], $2::bigint[]) AS u (seq, fence), holdfast.job j
  WHERE l.seq = u.seq AND l.fence = u.fence AND j.seq = l.seq
  RETURNING ${LEASED_COLUMNS}`;
const SETTLED_FENCES = `
  SELECT j.id, coalesce(d.settled_fence, l.settled_fence, a.settled_fence, r.settled_fence)
  FROM holdfast.job j
  LEFT JOIN holdfast.done d ON d.seq = j.seq
  LEFT JOIN holdfast.leased l ON l.seq = j.seq
  LEFT JOIN holdfast.delayed a ON a.seq = j.seq
  LEFT JOIN holdfast.ready r ON r.q = j.q AND r.grp = j.grp AND r.prio = j.prio AND r.seq = j.seq
  WHERE j.seq = ANY ($1)
  UNION ALL
  SELECT g.id, g.settled_fence FROM holdfast.gone g WHERE g.id = ANY ($2) AND g.forget_at > $3`;

export interface PlainSettled {
  /** Which of the items are settled; the others take the long way. */
  readonly settled: ReadonlySet<Settlement>;
  /** Queues that may have got room under a cap. */
  readonly woken: readonly number[];
}

/** The short way, for those that can take it. */
export async function settlePlainly(
  db: Asker,
  settlements: readonly Settlement[],
  how: { readonly clock: Clock; readonly remembersMs: number; readonly isLate: boolean },
): Promise<PlainSettled> {
  const seqs = await seqsOf(db, settlements);
  const plain = settlements
    .map((settlement, index) => ({ settlement, seq: seqs[index] ?? 0 }))
    .filter(({ settlement, seq }) => seq > 0 && isPlain(settlement))
    .sort((a, b) => a.seq - b.seq);
  if (plain.length === 0) return { settled: new Set(), woken: [] };
  const [row] = await db.rows(SETTLE_PLAIN, [
    ...[how.clock.seen, how.isLate, wholeMs(how.remembersMs)],
    plain.map(({ seq }) => seq),
    plain.map(({ settlement }) => settlement.fence),
    plain.map(({ settlement: { outcome } }) => ("result" in outcome ? outcome.result : null)),
    plain.map(({ settlement: { outcome } }) => "result" in outcome && outcome.resultDropped),
    plain.map(({ settlement }) => settlement.discard === true),
  ]);
  if (row === undefined) throw new Error("settle_plain answered nothing");
  how.clock.saw(number(row, 0));
  const settled = new Set(numbers(row, 1).flatMap((ord) => plain[ord - 1]?.settlement ?? []));
  return { settled, woken: numbers(row, 2) };
}

function isPlain({ outcome, riders, spawn, entries, outbox }: Settlement): boolean {
  return (
    outcome.kind === "succeed" &&
    isEmpty(riders) &&
    isNone(spawn) &&
    isNone(entries) &&
    isNone(outbox)
  );
}

function isNone(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

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
    if (lease === undefined || lease.fence !== settlement.fence) return null;
    // The same settle twice in one call is done once.
    if (!endings.some((ending) => ending.lease.seq === seq)) {
      endings.push({ settlement, ...conclude(lease, settlement, tx.now) });
    }
    return "settled";
  });
  await write(tx, endings, how);
  const settled = await settledBefore(tx, settlements, { seqs, results });
  return settlements.map(
    (settlement, index) =>
      results[index] ?? (settled.get(settlement.id) === settlement.fence ? "settled" : "lost"),
  );
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
    kept.map(({ lease, settlement }) => ({ seq: lease.seq, riders: settlement.riders ?? {} })),
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
  await wakeForRoom(
    tx,
    endings.map(({ lease }) => lease.q),
  );
}

/** What stays of the jobs: where they stand, and what happened to them. */
async function writeKept(
  tx: Transaction,
  kept: readonly Ending[],
  notes: ReadonlyMap<number, LogsOf>,
): Promise<void> {
  await noteTrails(
    tx,
    kept.flatMap(({ lease, trail }) => (trail === null ? [] : [{ seq: lease.seq, change: trail }])),
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
  const flagsOf = ({ lease, trail, record, settlement }: Ending): number => {
    const hasPast = trail !== null || record !== null || notes.has(lease.seq);
    return lease.flags | (hasPast || !isEmpty(settlement.riders) ? HAS_PAST : 0);
  };
  await standInLine(
    tx,
    kept.flatMap((ending) =>
      ending.back === null ? [] : [{ ...ending.back, flags: flagsOf(ending) }],
    ),
  );
  await standFinished(
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
  const { results, woken } = await insert(tx, jobs, how);
  for (const q of woken) tx.woken.add(q);
  for (const [index, { parent, job }] of children.entries()) {
    const result = results[index];
    if (result?.outcome !== "duplicate" && result?.outcome !== "conflict") continue;
    const why = result.outcome === "duplicate" ? "duplicate of" : "conflict with";
    const line = { at: tx.now, text: `spawned job ${job.id} dropped: ${why} ${result.id}` };
    const lines = [...(notes.get(parent)?.lines ?? []), line];
    notes.set(parent, { seq: parent, lines });
  }
  return notes;
}
