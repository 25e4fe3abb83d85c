/**
 * Which lines of a queue have ready jobs. Leases are found through lines, never through jobs: the
 * server jumps from line to line through its index, so a line of a million jobs is one step.
 *
 * A queue of very many lines is walked a window at a time. Where a window ends is known from the last
 * walk through all of them.
 */
import type { Turn, TurnTaker } from "../../core/turns.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import type { LineDocument, QueueDocument } from "./schema.ts";
import { hasCaps, heldUntil } from "./queue-book.ts";

const WINDOW = 256;

/** By the group of the line; null before the first. Each process knows it for itself. */
export type GroupTurn = Turn<string | null>;

/** A line with ready jobs. */
export interface ReadyLine extends TurnTaker {
  readonly group: string;
  /** Its first job. */
  readonly head: string;
  /** Null: it is not held. */
  readonly heldUntil: number | null;
}

export interface Window {
  readonly lines: readonly ReadyLine[];
  /** How many more jobs of the queue may be leased. */
  readonly room: number;
  /** The end of it, if there are more lines behind it. */
  readonly end: string | null;
  /** All lines of the queue are in it. */
  readonly isAll: boolean;
}

interface Look {
  readonly now: number;
  readonly turn: GroupTurn;
  /** Of all lines, if they were read already. */
  readonly heads?: readonly Head[] | undefined;
}

export class LineWalk {
  /** The groups of the queues that have more than fit into a window, sorted. */
  readonly #known = new Map<string, readonly string[]>();

  /** All lines if they are few, else a window that begins with the one whose turn it is. */
  async look(db: Database, queue: QueueDocument, { now, turn, heads }: Look): Promise<Window> {
    const known = this.#known.get(queue._id) ?? [];
    if (heads === undefined && known.length > 0) {
      const { line: group, left } = turn;
      const from = group === null ? 0 : known.findIndex((one) => one > group);
      const end = from === -1 ? null : (known[from + WINDOW] ?? null);
      const start = group === null ? {} : { [left > 0 ? "$gte" : "$gt"]: group };
      const range = { ...start, ...(end === null ? {} : { $lte: end }) };
      return { ...(await linesIn(db, queue, { now, range })), end, isAll: false };
    }
    const all = await linesIn(db, queue, { now, ...(heads === undefined ? {} : { heads }) });
    if (all.lines.length > WINDOW) {
      this.#known.set(
        queue._id,
        all.lines.map(({ group }) => group),
      );
    }
    return { ...all, end: null, isAll: true };
  }

  /** Once round: lines have come and gone, so the next look is at all of them. */
  forget({ _id }: QueueDocument): void {
    this.#known.delete(_id);
  }
}

/** A line's group and its first job. */
export interface Head {
  readonly _id: string;
  readonly head: string;
}

/** From line to line through the index. */
export function walkOf(queue: string, range: Document = {}): Document[] {
  return [
    { $match: { ready: queue, ...range } },
    { $sort: { ready: 1, group: 1, priority: 1, seq: 1 } },
    { $group: { _id: "$group", head: { $first: "$_id" } } },
  ];
}

/** The lines with ready jobs, by group, and what holds or caps each. */
export async function linesIn(
  db: Database,
  queue: QueueDocument,
  look: {
    readonly now: number;
    readonly range?: Record<string, string>;
    readonly heads?: readonly Head[];
  },
): Promise<{ readonly lines: ReadyLine[]; readonly room: number }> {
  const { now, range = {} } = look;
  const name = queue._id;
  const isRange = Object.keys(range).length > 0;
  const walk = walkOf(name, isRange ? { group: range } : {});
  const heads = [...(look.heads ?? (await db.aggregate<Head>("jobs", walk)))];
  heads.sort((a, b) => (a._id < b._id ? -1 : 1));
  const groups = { $in: heads.map(({ _id }) => _id) };
  const isCappedQueue = hasCaps(queue);
  const [settings, active, total] = await Promise.all([
    queue.hasLines === true && heads.length > 0
      ? db.find<LineDocument>("lines", { queue: name, group: groups })
      : [],
    isCappedQueue ? activeBy(db, name, groups) : new Map<string, number>(),
    queue.maxActive === undefined ? 0 : db.count("jobs", { leased: name }),
  ]);
  const byGroup = new Map(settings.map((line) => [line.group, line]));
  const lines = heads.map(({ _id: group, head }): ReadyLine => {
    const line = byGroup.get(group);
    const cap = line?.maxActive ?? queue.maxActivePerGroup;
    return {
      group,
      head,
      weight: line?.weight ?? null,
      room: cap === undefined ? Infinity : Math.max(0, cap - (active.get(group) ?? 0)),
      isCapped: cap !== undefined || queue.maxActive !== undefined,
      heldUntil: heldUntil(line?.holds, now),
    };
  });
  return { lines, room: queue.maxActive === undefined ? Infinity : queue.maxActive - total };
}

async function activeBy(db: Database, queue: string, groups: object): Promise<Map<string, number>> {
  const counted = await db.aggregate<{ _id: string; n: number }>("jobs", [
    { $match: { leased: queue, group: groups } },
    { $group: { _id: "$group", n: { $sum: 1 } } },
  ]);
  return new Map(counted.map(({ _id, n }) => [_id, n]));
}
