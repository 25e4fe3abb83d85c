/**
 * Holds, caps, weights and bounds. Those of a queue stand in its document, those of a line in one of
 * its own, and what was changed there is noted in the queue's (`line-book.ts`).
 */
import type { HoldChange, LimitChange, LineRef } from "../../core/line.ts";
import { instantAfter } from "./clock.ts";
import { present, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { knowQueues } from "./queue-book.ts";
import { noteChanged } from "./line-book.ts";
import { pair } from "./schema.ts";
import type { Told } from "./told.ts";

export async function hold(
  db: Database,
  changes: readonly HoldChange[],
  told: Told,
): Promise<void> {
  const holding = changes.filter((change) => change.hold !== null);
  await knowQueues(
    db,
    holding.map(({ queue }) => queue),
  );
  const now = await db.now();
  const patches: Patch[] = changes.map((change) => {
    const { owner, hold: wanted, queue } = change;
    const isOther = { $ne: ["$$this.owner", { $literal: owner }] };
    const isInForce = { $gt: [{ $ifNull: ["$$this.until", Infinity] }, now] };
    const others = {
      $filter: { input: { $ifNull: ["$holds", []] }, cond: { $and: [isOther, isInForce] } },
    };
    if (wanted === null) {
      told.queues.add(queue);
      return { change, pipeline: [{ $set: { holds: others } }], upsert: false };
    }
    const { forMs, reason, by } = wanted;
    const until = forMs === null ? null : instantAfter(now, forMs);
    const own = { $literal: { owner, reason, by, until, since: now } };
    const holds = { $concatArrays: [others, [own]] };
    return { change, pipeline: [{ $set: { holds } }], upsert: true };
  });
  await patchAll(db, patches);
}

export async function limit(
  db: Database,
  changes: readonly LimitChange[],
  told: Told,
): Promise<void> {
  await knowQueues(
    db,
    changes.map(({ queue }) => queue),
  );
  const capped = changes.filter(({ maxActive }) => maxActive != null);
  await noteLineCaps(db, capped);
  const patches: Patch[] = changes.map((change) => {
    told.queues.add(change.queue);
    const { maxActive, maxActivePerGroup, maxWaiting, weight } = change;
    const wanted =
      change.group === null ? { maxActive, maxActivePerGroup, maxWaiting } : { maxActive, weight };
    const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
    const cleared = given.filter(([, value]) => value === null).map(([name]) => name);
    const set = present(Object.fromEntries(given));
    const pipeline = [
      ...(Object.keys(set).length === 0 ? [] : [{ $set: set }]),
      ...(cleared.length === 0 ? [] : [{ $unset: cleared }]),
    ];
    return { change, pipeline, upsert: true };
  });
  await patchAll(db, patches);
  if (changes.some(({ maxWaiting }) => maxWaiting !== undefined)) {
    await db.options.head.noteBounds();
  }
}

interface Patch {
  readonly change: LineRef;
  readonly pipeline: readonly Document[];
  readonly upsert: boolean;
}

/** Changes the documents of queues and lines, each kind in the order of the changes. */
async function patchAll(db: Database, patches: readonly Patch[]): Promise<void> {
  const useful = patches.filter(({ pipeline }) => pipeline.length > 0);
  const ofQueues = useful.filter(({ change }) => change.group === null);
  const ofLines = useful.filter(({ change }) => change.group !== null);
  const inOrder = { ordered: true };
  if (ofQueues.length > 0) await db.bulk("queues", ofQueues.map(queuePatch), inOrder);
  if (ofLines.length === 0) return;
  await db.bulk("lines", ofLines.map(linePatch), inOrder);
  const notes = [...Map.groupBy(ofLines, ({ change }) => change.queue)].map(([_id, some]) => {
    const groups = some.map(({ change }) => change.group ?? "");
    return { updateOne: { filter: { _id }, update: noteChanged(groups) } };
  });
  await db.bulk("queues", notes);
}

function queuePatch({ change, pipeline }: Patch): Document {
  return { updateOne: { filter: { _id: change.queue }, update: [...pipeline] } };
}

function linePatch({ change, pipeline, upsert }: Patch): Document {
  const { queue, group } = change;
  const named = { $set: { queue: { $literal: queue }, group: { $literal: group } } };
  const filter = { _id: pair(queue, group ?? "") };
  return { updateOne: { filter, update: [named, ...pipeline], upsert } };
}

async function noteLineCaps(db: Database, changes: readonly LineRef[]): Promise<void> {
  const queues = changes.filter(({ group }) => group !== null).map(({ queue }) => queue);
  if (queues.length === 0) return;
  await db.updateMany("queues", { _id: { $in: [...new Set(queues)] } }, [
    { $set: { hasLineCaps: true } },
  ]);
}
