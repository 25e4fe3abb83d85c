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
  const [alone, packs] = await Promise.all([
    db.aggregate<{ _id: string; n: number }>("jobs", [
      { $match: { leased: queue, group: { $gte: "" }, ...wanted } },
      { $group: { _id: "$group", n: { $sum: { $ifNull: ["$left", 1] } } } },
    ]),
    // A pack of several groups has none of its own.
    db.find<Pack>(
      "jobs",
      { leased: queue, group: null },
      { projection: { "pack.group": 1, ends: 1, status: 1, finishedAt: 1 }, hint: "leased" },
    ),
  ]);
  const running = new Map(alone.map(({ _id, n }) => [_id, n]));
  const isWanted = groups === undefined ? null : new Set(groups);
  for (const one of packs) {
    for (const [index, group] of (one.pack.group ?? []).entries()) {
      if (endOf(one, index) !== null || isWanted?.has(group) === false) continue;
      running.set(group, (running.get(group) ?? 0) + 1);
    }
  }
  return running;
}
