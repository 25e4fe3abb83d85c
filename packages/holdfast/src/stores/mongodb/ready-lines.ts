/** Lines with ready jobs, and what holds or caps each. */
import type { TurnTaker } from "../../core/turns.ts";
import type { Database } from "./database.ts";
import type { LineSettings } from "./line-book.ts";
import { PLACES, type FirstJob, type FirstOfLine, type Place } from "./line-walk.ts";
import { inOrder } from "./placement.ts";
import { hasCaps, heldUntil } from "./queue-book.ts";
import { runningIn } from "./running.ts";
import type { QueueDocument } from "./schema.ts";

export interface ReadyLine extends TurnTaker {
  readonly group: string;
  readonly head: FirstJob;
  /** Where its jobs are. */
  readonly places: readonly Place[];
  /** Null: it is not held. */
  readonly heldUntil: number | null;
}

export interface ReadyLines {
  /** By group. */
  readonly lines: readonly ReadyLine[];
  /** How many more jobs of the queue may be leased. */
  readonly room: number;
}

export async function readyLines(
  db: Database,
  queue: QueueDocument,
  seen: {
    readonly now: number;
    readonly first: readonly FirstOfLine[];
    readonly settings: LineSettings;
  },
): Promise<ReadyLines> {
  const { now, first, settings } = seen;
  const name = queue._id;
  const groups = [...Map.groupBy(first, ({ _id }) => _id)].sort(([a], [b]) => (a < b ? -1 : 1));
  const isCapped = hasCaps(queue);
  if (isCapped) await db.options.clearing.done();
  const names = groups.map(([group]) => group);
  const [active, total] = await Promise.all([
    isCapped ? runningIn(db, name, names) : new Map<string, number>(),
    queue.maxActive === undefined ? 0 : db.sum("jobs", { leased: name }, { field: "left" }),
  ]);
  const lines = groups.map(([group, some]): ReadyLine => {
    const line = settings.get(group);
    const cap = line?.maxActive ?? queue.maxActivePerGroup;
    return {
      group,
      head: inOrder(some.map(({ head }) => head))[0] as FirstJob,
      places: PLACES.filter((place) =>
        some.some(({ head }) => "pack" in head === (place === "fresh")),
      ),
      weight: line?.weight ?? null,
      room: cap === undefined ? Infinity : Math.max(0, cap - (active.get(group) ?? 0)),
      isCapped: cap !== undefined || queue.maxActive !== undefined,
      heldUntil: heldUntil(line?.holds, now),
    };
  });
  return { lines, room: queue.maxActive === undefined ? Infinity : queue.maxActive - total };
}
