/**
 * Holds and caps: the only two ways in which anything keeps a ready job back.
 *
 * `held_until` of a queue or line is the end of its last hold, so that a lease compares one number and
 * a hold that ends needs no transaction to end it. A transaction that changes holds locks the rows of
 * its queues and lines first, in their order, and looks at all their holds after that: two that release
 * at once must not each believe that the other's hold is still there.
 *
 * A call is a few statements, however many lines it speaks of.
 */
import type { HoldChange, LimitChange, LineRef } from "../../core/line.ts";
import { FOREVER, instantAfter } from "./clock.ts";
import type { Value } from "./database.ts";
import { number } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

const LOCK_QUEUES = "SELECT 1 FROM holdfast.queue WHERE q = ANY ($1) ORDER BY q FOR UPDATE";
const LOCK_LINES = `
  SELECT 1 FROM holdfast.line l JOIN unnest($1::integer[], $2::text[]) AS u (q, grp)
  ON l.q = u.q AND l.grp = u.grp ORDER BY l.q, l.grp FOR UPDATE OF l`;
/** Makes the rows, or locks those that are there. */
const ADD_LINES = `
  INSERT INTO holdfast.line AS l (q, grp)
  SELECT u.q, u.grp FROM unnest($1::integer[], $2::text[]) AS u (q, grp)
  GROUP BY u.q, u.grp ORDER BY u.q, u.grp
  ON CONFLICT (q, grp) DO UPDATE SET held_until = l.held_until`;
const NOTE_SET = "UPDATE holdfast.queue SET is_set = true, set_at = $2 WHERE q = ANY ($1)";
/** The ring is made by the leases that come, in steps; see `line-ring.ts`. */
const NOTE_LINES = `
  UPDATE holdfast.queue x SET has_lines = true, has_ring = true,
    ring_from = CASE WHEN x.has_ring THEN x.ring_from ELSE '' END,
    ring_wait_ms = CASE WHEN x.has_ring THEN x.ring_wait_ms ELSE 0 END
  WHERE x.q = ANY ($1) AND NOT (x.has_lines AND x.has_ring)`;
/** Another default: any line may be open now that was full. */
const MAKE_RING_AGAIN = `
  UPDATE holdfast.queue SET has_ring = true, ring_from = '', ring_wait_ms = 0
  WHERE q = ANY ($1) AND (has_ring OR max_active_per_group IS NOT NULL)`;
const HOLD = `
  INSERT INTO holdfast.hold (q, is_queue, grp, owner, reason, by_whom, until, since)
  SELECT u.q, u.is_queue, u.grp, u.owner, u.reason, u.by_whom, u.until, $8 FROM unnest($1::integer[],
    $2::boolean[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
    AS u (q, is_queue, grp, owner, reason, by_whom, until)
  ON CONFLICT (q, is_queue, grp, owner) DO UPDATE SET reason = excluded.reason,
    by_whom = excluded.by_whom, until = excluded.until, since = excluded.since`;
const RELEASE = `
  DELETE FROM holdfast.hold h USING unnest($1::integer[], $2::boolean[], $3::text[], $4::text[])
    AS u (q, is_queue, grp, owner)
  WHERE h.q = u.q AND h.is_queue = u.is_queue AND h.grp = u.grp AND h.owner = u.owner`;
/** The last end of the holds in force that a condition picks. */
function heldUntil(picked: string): string {
  return `coalesce((SELECT max(coalesce(h.until, ${FOREVER})) FROM holdfast.hold h
    WHERE ${picked} AND (h.until IS NULL OR h.until > $1)), 0)`;
}
const SET_QUEUES_HELD = `
  UPDATE holdfast.queue x SET held_until = ${heldUntil("h.q = x.q AND h.is_queue AND h.grp = ''")}
  WHERE x.q = ANY ($2)`;
/** Lines that no hold closes any more come back into the ring. */
const SET_LINES_HELD = `
  WITH held AS (
    UPDATE holdfast.line l
    SET held_until = ${heldUntil("h.q = l.q AND NOT h.is_queue AND h.grp = l.grp")}
    FROM unnest($2::integer[], $3::text[]) AS u (q, grp) WHERE l.q = u.q AND l.grp = u.grp
    RETURNING l.q, l.grp, l.is_shut AND l.held_until <= $1 AS is_open)
  SELECT h.q, h.grp, holdfast.open_lines(ARRAY[h.q], ARRAY[h.grp]) FROM held h WHERE h.is_open`;
const NOTE_OPEN = `
  UPDATE holdfast.line l SET is_shut = false FROM unnest($1::integer[], $2::text[]) AS u (q, grp)
  WHERE l.q = u.q AND l.grp = u.grp`;
/** A patch: where a column is not given, it stays. */
const LIMIT_QUEUES = `
  UPDATE holdfast.queue x SET
    max_active = CASE WHEN u.sets_active THEN u.max_active ELSE x.max_active END,
    max_active_per_group = CASE WHEN u.sets_group THEN u.per_group ELSE x.max_active_per_group END,
    max_waiting = CASE WHEN u.sets_waiting THEN u.max_waiting ELSE x.max_waiting END
  FROM unnest($1::integer[], $2::boolean[], $3::bigint[], $4::boolean[], $5::bigint[],
    $6::boolean[], $7::bigint[])
    AS u (q, sets_active, max_active, sets_group, per_group, sets_waiting, max_waiting)
  WHERE x.q = u.q`;
const LIMIT_LINES = `
  UPDATE holdfast.line l SET
    max_active = CASE WHEN u.sets_active THEN u.max_active ELSE l.max_active END,
    weight = CASE WHEN u.sets_weight THEN u.weight ELSE l.weight END
  FROM unnest($1::integer[], $2::text[], $3::boolean[], $4::bigint[], $5::boolean[], $6::integer[])
    AS u (q, grp, sets_active, max_active, sets_weight, weight)
  WHERE l.q = u.q AND l.grp = u.grp`;
const NOTE_CAPS_OF_LINES = `
  UPDATE holdfast.open_line o SET is_capped = l.max_active IS NOT NULL
  FROM unnest($1::integer[], $2::text[]) AS u (q, grp), holdfast.line l
  WHERE o.q = u.q AND o.grp = u.grp AND l.q = u.q AND l.grp = u.grp
    AND o.is_capped <> (l.max_active IS NOT NULL)`;
const OPEN_LINES = "SELECT holdfast.open_lines($1, $2)";
/** The first cap: a settle that began before it opens no line again, so the ring is made once more. */
const NOTE_CAPS = `
  UPDATE holdfast.queue x SET has_caps = n.has_caps,
    ring_from = CASE WHEN n.is_first THEN '' ELSE x.ring_from END,
    ring_wait_ms = CASE WHEN n.is_first THEN 0 ELSE x.ring_wait_ms END
  FROM (SELECT c.q, c.has_caps, c.has_caps AND y.has_ring AND NOT y.has_caps AS is_first
    FROM holdfast.queue y CROSS JOIN LATERAL (SELECT y.q, y.max_active IS NOT NULL
      OR y.max_active_per_group IS NOT NULL
      OR EXISTS (SELECT 1 FROM holdfast.line l WHERE l.q = y.q AND l.max_active IS NOT NULL)
      AS has_caps) c
    WHERE y.q = ANY ($1)) n
  WHERE x.q = n.q`;
const HAVE_READY = `
  SELECT u.q FROM unnest($1::integer[]) AS u (q)
  WHERE (SELECT true FROM holdfast.ready r WHERE r.q = u.q LIMIT 1)`;

/** A change, with the number of its queue. */
type Numbered<T extends LineRef> = T & { readonly q: number };

export async function hold(
  tx: Transaction,
  changes: readonly HoldChange[],
  queues: ReadonlyMap<string, number>,
): Promise<void> {
  // Only one's own is released, and only if there is one: releasing makes no queue.
  const known = numbered(changes, queues);
  if (known.length === 0) return;
  // The last word of each owner counts.
  const words = new Map(
    known.map((word) => [JSON.stringify([word.q, word.group, word.owner]), word]),
  );
  const set = [...words.values()].flatMap((word) =>
    word.hold === null ? [] : [{ ...word, hold: word.hold }],
  );
  const released = [...words.values()].filter((word) => word.hold === null);
  await tx.rows(LOCK_QUEUES, [queuesOf(known)]);
  // A hold that the same call releases again has made its queue known, and its line a row.
  const held = known.filter((change) => change.hold !== null);
  await addLines(tx, held);
  await tx.rows(LOCK_LINES, lineColumns(released));
  await tx.rows(RELEASE, ownerColumns(released));
  await tx.rows(HOLD, [
    ...ownerColumns(set),
    set.map((change) => change.hold.reason),
    set.map((change) => change.hold.by),
    set.map(({ hold: { forMs } }) => (forMs === null ? null : instantAfter(tx.now, forMs))),
    tx.now,
  ]);
  await tx.rows(SET_QUEUES_HELD, [tx.now, queuesOf(known.filter(({ group }) => group === null))]);
  const opened = await tx.rows(SET_LINES_HELD, [tx.now, ...lineColumns(known)]);
  if (opened.length > 0) {
    await tx.rows(NOTE_OPEN, [
      opened.map((row) => number(row, 0)),
      opened.map(([, grp]) => grp ?? ""),
    ]);
  }
  await wakeIfReady(tx, queuesOf(released));
}

export async function limit(
  tx: Transaction,
  changes: readonly LimitChange[],
  queues: ReadonlyMap<string, number>,
): Promise<void> {
  const known = numbered(changes, queues);
  if (known.length < changes.length) throw new Error("the queue of a limit has no number");
  const merged = new Map<string, Numbered<LimitChange>>();
  for (const change of known) {
    const place = JSON.stringify([change.q, change.group]);
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    merged.set(place, { ...merged.get(place), ...Object.fromEntries(given) } as typeof change);
  }
  const all = queuesOf(known);
  await tx.rows(LOCK_QUEUES, [all]);
  await addLines(tx, known);
  const [ofQueues, ofLines] = [
    [...merged.values()].filter(isOfQueue),
    [...merged.values()].filter(isOfLine),
  ];
  if (ofQueues.length > 0) await limitQueues(tx, ofQueues);
  if (ofLines.length > 0) await limitLines(tx, ofLines);
  await tx.rows(NOTE_CAPS, [all]);
  await wakeIfReady(tx, all);
}

async function limitQueues(
  tx: Transaction,
  changes: readonly Numbered<LimitChange>[],
): Promise<void> {
  await tx.rows(LIMIT_QUEUES, [
    changes.map(({ q }) => q),
    ...patch(changes, ({ maxActive }) => maxActive),
    ...patch(changes, ({ maxActivePerGroup }) => maxActivePerGroup),
    ...patch(changes, ({ maxWaiting }) => maxWaiting),
  ]);
  const defaults = changes.filter(({ maxActivePerGroup }) => maxActivePerGroup !== undefined);
  if (defaults.length > 0) await tx.rows(MAKE_RING_AGAIN, [queuesOf(defaults)]);
}

async function limitLines(
  tx: Transaction,
  changes: readonly Numbered<LimitChange>[],
): Promise<void> {
  await tx.rows(LIMIT_LINES, [
    ...lineColumns(changes),
    ...patch(changes, ({ maxActive }) => maxActive),
    ...patch(changes, ({ weight }) => weight),
  ]);
  const capped = changes.filter(({ maxActive }) => maxActive !== undefined);
  if (capped.length === 0) return;
  await tx.rows(NOTE_CAPS_OF_LINES, lineColumns(capped));
  await tx.rows(OPEN_LINES, lineColumns(capped));
}

/** Is it given, and what: absent leaves as it is, null clears. */
function patch(
  changes: readonly LimitChange[],
  of: (change: LimitChange) => number | null | undefined,
): Value[] {
  return [
    changes.map((change) => of(change) !== undefined),
    changes.map((change) => of(change) ?? null),
  ];
}

/** The caller has locked the queues. */
async function addLines(tx: Transaction, changes: readonly Numbered<LineRef>[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.rows(NOTE_SET, [queuesOf(changes), tx.now]);
  const ofLines = changes.filter(isOfLine);
  if (ofLines.length === 0) return;
  await tx.rows(ADD_LINES, lineColumns(ofLines));
  await tx.rows(NOTE_LINES, [queuesOf(ofLines)]);
}

async function wakeIfReady(tx: Transaction, queues: readonly number[]): Promise<void> {
  if (queues.length === 0) return;
  const rows = await tx.rows(HAVE_READY, [queues]);
  for (const row of rows) tx.woken.add(number(row, 0));
}

/** Of queues that are there. */
function numbered<T extends LineRef>(
  changes: readonly T[],
  queues: ReadonlyMap<string, number>,
): Numbered<T>[] {
  return changes.flatMap((change) => {
    const q = queues.get(change.queue);
    return q === undefined ? [] : [{ ...change, q }];
  });
}

function isOfQueue({ group }: LineRef): boolean {
  return group === null;
}

function isOfLine({ group }: LineRef): boolean {
  return group !== null;
}

function queuesOf(changes: readonly { readonly q: number }[]): number[] {
  return [...new Set(changes.map(({ q }) => q))];
}

function lineColumns(changes: readonly Numbered<LineRef>[]): Value[] {
  const ofLines = changes.filter(isOfLine);
  return [ofLines.map(({ q }) => q), ofLines.map(({ group }) => group)];
}

function ownerColumns(changes: readonly Numbered<HoldChange>[]): Value[] {
  return [
    changes.map(({ q }) => q),
    changes.map(isOfQueue),
    changes.map(({ group }) => group ?? ""),
    changes.map(({ owner }) => owner),
  ];
}
