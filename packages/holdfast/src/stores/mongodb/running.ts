/** How many jobs of which lines are leased right now: documents of their own, and those in packs. */
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { endOf } from "./packs/packs.ts";
import type { Pack } from "./schema.ts";

/** By group, of these groups or of all. */
export async function runningIn(
  db: Database,
  queue: string,
  groups?: readonly string[],
): Promise<Map<string, number>> {
  const wanted: Document = groups === undefined ? {} : { group: { $in: groups } };
  // The server passes this index over when the names are many, and reads every leased document instead.
  const how = { hint: "leased" };
  const [alone, packs] = await Promise.all([
    db.find<{ readonly group: string; readonly left: number | null }>(
      "jobs",
      { leased: queue, group: { $gte: "" }, ...wanted },
      { projection: { _id: 0, group: 1, left: 1 }, ...how },
    ),
    // A pack of several groups has none of its own.
    db.find<Pack>(
      "jobs",
      { leased: queue, group: null },
      { projection: { "pack.group": 1, ends: 1, status: 1, finishedAt: 1, stays: 1 }, ...how },
    ),
  ]);
  const running = new Map<string, number>();
  const add = (group: string, count: number): void =>
    void running.set(group, (running.get(group) ?? 0) + count);
  // What the index alone answers is null where a document has none.
  for (const { group, left } of alone) add(group, left ?? 1);
  const isWanted = groups === undefined ? null : new Set(groups);
  for (const one of packs) {
    for (const [index, group] of (one.pack.group ?? []).entries()) {
      // The others have documents of their own by now.
      if (one.stays?.includes(index) === false) continue;
      if (endOf(one, index) !== null || isWanted?.has(group) === false) continue;
      add(group, 1);
    }
  }
  return running;
}
