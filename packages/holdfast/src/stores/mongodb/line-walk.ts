/**
 * Which lines of a queue have ready jobs. Leases are found through lines, never through jobs: the
 * server jumps from line to line through its index, so a line of a million jobs is one step.
 *
 * A queue of very many lines is walked a window at a time. Where a window ends is known from the last walk
 * through the same lines.
 */
import type { Turn, TurnTaker } from "../../core/turns.ts";
import { EVERYWHERE, type GroupRange } from "./clearing.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { eachList } from "./packs.ts";
import { runningIn } from "./running.ts";
import type { FreshPack, LineDocument, QueueDocument } from "./schema.ts";
import { inOrder, lineStages } from "./placement.ts";
import { hasCaps, heldUntil } from "./queue-book.ts";

/** Somewhat more than a call can want. */
const LARGEST_WINDOW = 1_200;
const SMALLEST_WINDOW = 64;
/** To walk so many lines takes longer than another question. */
const PARTED = 200;

/** By the group of the line; null before the first. Each process knows it for itself. */
export type GroupTurn = Turn<string | null>;

/** A line with ready jobs. */
export interface ReadyLine extends TurnTaker {
  readonly group: string;
  readonly head: FirstJob;
  /** Where its jobs are. */
  readonly places: readonly Place[];
  /** Null: it is not held. */
  readonly heldUntil: number | null;
}

export interface Window {
  readonly lines: readonly ReadyLine[];
  /** How many more jobs of the queue may be leased. */
  readonly room: number;
  readonly range: GroupRange;
  /** All lines of the queue are in it. */
  readonly isAll: boolean;
}

interface Look {
  readonly now: number;
  readonly turn: GroupTurn;
  /** How many jobs are wanted. */
  readonly jobs: number;
  /** The window before this one had nothing to take. */
  readonly isBarren?: boolean;
  /** Of all lines, if they were read already. */
  readonly heads?: readonly Head[] | undefined;
}

export class LineWalk {
  /** The groups of the queues that have many lines, sorted, each as it was seen last. */
  readonly #known = new Map<string, readonly string[]>();
  /** The group that parts the lines of a queue into halves. */
  readonly #middles = new Map<string, string>();

  /** All lines if they are few, else a window that begins with the one whose turn it is. */
  async look(db: Database, queue: QueueDocument, look: Look): Promise<Window> {
    const { now, heads } = look;
    const known = this.#known.get(queue._id);
    const isAll = heads !== undefined || known === undefined;
    const range = isAll ? EVERYWHERE : windowOf(known, look);
    const seen = await linesIn(db, queue, { now, range, heads });
    this.#learn(queue._id, seen.lines, range);
    return { ...seen, range, isAll };
  }

  /** Does it take more than one look to see all lines of this queue? */
  isLong(queue: string): boolean {
    return this.#known.has(queue);
  }

  /** All lines in two halves; none if they are too few to be parted. */
  halvesOf(queue: string): readonly GroupRange[] {
    const middle = this.#middles.get(queue);
    if (middle === undefined) return [];
    return [
      { after: null, until: middle },
      { after: middle, until: null },
    ];
  }

  /** Other lines have come in between, and some have gone. */
  #learn(queue: string, lines: readonly ReadyLine[], { after, until }: GroupRange): void {
    const known = this.#known.get(queue) ?? [];
    const before = after === null ? [] : known.filter((group) => group <= after);
    const behind = until === null ? [] : known.filter((group) => group > until);
    const groups = [...before, ...lines.map(({ group }) => group), ...behind];
    if (groups.length > LARGEST_WINDOW) this.#known.set(queue, groups);
    else this.#known.delete(queue);
    const middle = groups[groups.length >> 1];
    if (middle !== undefined && groups.length >= PARTED) this.#middles.set(queue, middle);
    else this.#middles.delete(queue);
  }
}

/** Behind the last line one begins again. */
function windowOf(known: readonly string[], { turn, jobs, isBarren = false }: Look): GroupRange {
  const { line, left } = turn;
  const isNext = (group: string): boolean =>
    line === null || (left > 0 ? group >= line : group > line);
  const start = Math.max(0, known.findIndex(isNext));
  // A few more than jobs: some lines may be held, or have come to their end.
  const few = Math.max(SMALLEST_WINDOW, Math.ceil(jobs * 1.1));
  const end = start + (isBarren ? LARGEST_WINDOW : Math.min(LARGEST_WINDOW, few));
  const until = end < known.length ? known[end - 1] : null;
  return { after: known[start - 1] ?? null, until: until ?? null };
}

/** Ready jobs are fresh, or have documents of their own. */
export const PLACES = ["fresh", "jobs"] as const;
export type Place = (typeof PLACES)[number];

/** A line's group, and its first job in one of the places. */
export interface Head {
  readonly _id: string;
  readonly head: FirstJob;
}

/** Of a fresh one, the pack that it is in without the others in it; else its id and place. */
type FirstJob = (FreshPack | { readonly _id: string }) & {
  readonly priority: number;
  readonly seq: number;
};

/** From line to line through the index. Of fresh jobs the first one comes along. */
export function walkOf(place: Place, queue: string, range: Document = {}): Document[] {
  if (place === "jobs") {
    const first = { _id: "$_id", priority: "$priority", seq: "$seq" };
    return lineStages(queue, range, { head: { $first: first } });
  }
  const firstOf = (list: string): Document => ({ $slice: [list, 1] });
  const own = { ids: firstOf("$head.ids"), pack: eachList("$head.pack", firstOf) };
  const alone = { $mergeObjects: ["$head", own] };
  return [
    ...lineStages(queue, range, { head: { $first: "$$ROOT" } }),
    { $set: { head: { $cond: [{ $eq: ["$head.n", 1] }, "$head", alone] } } },
  ];
}

/** The first jobs of these lines, in both places. */
export async function headsIn(db: Database, queue: string, range: GroupRange): Promise<Head[]> {
  await db.options.clearing.done(range);
  const [fresh, jobs] = PLACES.map((place) => walkOf(place, queue, groupsIn(range)));
  return db.aggregate<Head>("fresh", [...(fresh ?? []), db.unionWith("jobs", jobs ?? [])]);
}

function groupsIn({ after, until }: GroupRange): Document {
  if (after === null && until === null) return {};
  const from = after === null ? {} : { $gt: after };
  return { group: { ...from, ...(until === null ? {} : { $lte: until }) } };
}

/** By group; each of them has one or two heads. */
function byGroup(heads: readonly Head[]): [string, readonly Head[]][] {
  const groups = [...Map.groupBy(heads, ({ _id }) => _id)];
  return groups.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The lines with ready jobs, by group, and what holds or caps each. */
export async function linesIn(
  db: Database,
  queue: QueueDocument,
  look: {
    readonly now: number;
    readonly range?: GroupRange;
    readonly heads?: readonly Head[] | undefined;
  },
): Promise<{ readonly lines: ReadyLine[]; readonly room: number }> {
  const { now, range = EVERYWHERE } = look;
  const name = queue._id;
  const heads = byGroup(look.heads ?? (await headsIn(db, name, range)));
  const names = heads.map(([group]) => group);
  const groups = { $in: names };
  const isCappedQueue = hasCaps(queue);
  if (isCappedQueue) await db.options.clearing.done();
  const [settings, active, total] = await Promise.all([
    queue.hasLines === true && heads.length > 0
      ? db.find<LineDocument>("lines", { queue: name, group: groups })
      : [],
    isCappedQueue ? runningIn(db, name, names) : new Map<string, number>(),
    queue.maxActive === undefined ? 0 : db.sum("jobs", { leased: name }, { field: "left" }),
  ]);
  const set = new Map(settings.map((line) => [line.group, line]));
  const lines = heads.map(([group, some]): ReadyLine => {
    const line = set.get(group);
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
