/**
 * Reaping: leases that ran out, the longest expired first. The fence moves on, or the old holder's
 * late settle would look like the repeat of one that happened. It kills nothing: who has crashed too
 * often is decided at the next lease.
 *
 * Every worker calls this about once a second and nearly always there is nothing to do. So it looks
 * first, and while it looks it carries the clock's mark between processes (`clock.ts`).
 */
import type { ReapedJob } from "../../core/store.ts";
import { recordOf } from "./conclude.ts";
import { msOf } from "./clock.ts";
import type { Database } from "./database.ts";
import { LEASED_COLUMNS, leaseOf, type HeldLease } from "./held-lease.ts";
import { freeKeysUntilFinished } from "./keys.ts";
import { moveDue } from "./move-due.ts";
import type { QueueBook } from "./queue-book.ts";
import { isTrue, number, numbers } from "./row-values.ts";
import { HAS_KEY, HAS_PAST, standFinished, standInLine, wakeForRoom } from "./standing.ts";
import { addAttempts, noteTrails } from "./trail.ts";
import type { Transaction } from "./transaction.ts";
import { DEAD_ROWS, type Upkeep } from "./upkeep.ts";

/** Due jobs moved per queue and call, so that those of a held queue do not pile up for `count`. */
const MOVE_DUE_AT_MOST = 500;
/** How far the mark may lag behind the clock. */
const MARK_EVERY_US = 1_000_000;

const LOOK = `
  SELECT n.us, EXISTS (SELECT 1 FROM holdfast.leased l WHERE l.until <= n.us / 1000),
    ARRAY(SELECT x.q FROM holdfast.queue x WHERE n.us / 1000 >= (
      SELECT d.run_at FROM holdfast.delayed d WHERE d.q = x.q ORDER BY d.q, d.run_at LIMIT 1)),
    n.mark, ${DEAD_ROWS}
  FROM (SELECT greatest(holdfast.clock_us(), h.clock, $1) AS us,
    h.clock AS mark FROM holdfast.head h OFFSET 0) n`;
const MARK = "UPDATE holdfast.head SET clock = $1 WHERE clock < $1";
/** The whole condition again, on the rows themselves. */
const EXPIRED = `
  WITH expired AS (
    SELECT x.seq FROM holdfast.leased x WHERE x.until <= $1 ORDER BY x.until, x.seq LIMIT $2
    FOR UPDATE SKIP LOCKED)
  DELETE FROM holdfast.leased l USING expired e, holdfast.job j
  WHERE l.seq = e.seq AND l.until <= $1 AND j.seq = l.seq
  RETURNING ${LEASED_COLUMNS}, l.until`;
const UNTIL_COLUMN = 20;

export interface Reaped {
  readonly jobs: ReapedJob[];
  readonly woken: ReadonlySet<number>;
  readonly finished: readonly string[];
}

export async function reap(
  db: Database,
  { limit }: { readonly limit: number },
  { queues, upkeep }: { readonly queues: QueueBook; readonly upkeep: Upkeep },
): Promise<Reaped> {
  const { clock } = db.options;
  const [look] = await db.rows(LOOK, [clock.seen]);
  if (look === undefined) throw new Error("holdfast.head has lost its row");
  const micros = number(look, 0);
  clock.saw(micros);
  if (micros - number(look, 3) > MARK_EVERY_US) await db.rows(MARK, [micros]);
  void upkeep.look(number(look, 4));
  const due = { now: msOf(micros), atMost: MOVE_DUE_AT_MOST };
  for (const q of numbers(look, 2)) await moveDue(db, q, due);
  if (limit <= 0 || !isTrue(look, 1)) return { jobs: [], woken: new Set(), finished: [] };
  const { leases, ...owed } = await db.transaction(async (tx) => {
    const rows = await tx.rows(EXPIRED, [tx.now, limit]);
    rows.sort((a, b) => number(a, UNTIL_COLUMN) - number(b, UNTIL_COLUMN));
    const expired = rows.map(leaseOf);
    await putBack(tx, expired);
    return { leases: expired, woken: tx.woken, finished: tx.finished };
  });
  const names = await queues.names(leases.map(({ q }) => q));
  return { jobs: leases.map((lease) => reapedJob(lease, names)), ...owed };
}

async function putBack(tx: Transaction, leases: readonly HeldLease[]): Promise<void> {
  if (leases.length === 0) return;
  await addAttempts(
    tx,
    leases.map((lease) => {
      const record = recordOf(lease, tx.now, { outcome: "crashed", failure: null });
      return { seq: lease.seq, records: [record] };
    }),
  );
  await noteTrails(
    tx,
    leases.map(({ seq, isCancelAsked, cancelReason, cancelBy, leasedAt, worker }) => ({
      seq,
      change: isCancelAsked
        ? { reason: cancelReason, by_whom: cancelBy }
        : { started_at: leasedAt, worker },
    })),
  );
  const moved = leases.map((lease) => ({
    ...lease,
    crashes: lease.crashes + 1,
    fence: tx.fenceAfter(lease.fence),
    flags: lease.flags | HAS_PAST,
  }));
  const cancelled = moved.filter(({ isCancelAsked }) => isCancelAsked);
  await standInLine(
    tx,
    moved.filter(({ isCancelAsked }) => !isCancelAsked),
  );
  await standFinished(
    tx,
    cancelled.map((lease) => ({
      ...lease,
      as: "cancelled",
      finishedAt: tx.now,
      startedAt: lease.leasedAt,
      result: null,
      resultDropped: false,
    })),
  );
  const keyed = cancelled.filter(({ flags }) => (flags & HAS_KEY) !== 0);
  await freeKeysUntilFinished(
    tx,
    keyed.map(({ seq }) => seq),
  );
  for (const { id } of cancelled) tx.finished.push(id);
  await wakeForRoom(
    tx,
    leases.map(({ q }) => q),
  );
}

function reapedJob(lease: HeldLease, names: ReadonlyMap<number, string>): ReapedJob {
  const { id, group, type, worker, attempts, crashes, isCancelAsked } = lease;
  const queue = names.get(lease.q) ?? "";
  const status = isCancelAsked ? "cancelled" : "queued";
  return { id, queue, group, type, worker, attempts, crashes: crashes + 1, status };
}
