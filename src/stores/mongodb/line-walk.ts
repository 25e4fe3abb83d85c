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
import { runningIn } from "./running.ts";
import type { FreshPack, LineDocument, QueueDocument } from "./schema.ts";
import { inOrder, lineStages } from "./standing.ts";
import { hasCaps, heldUntil } from "./queue-book.ts";

/** Somewhat more than a call can want. */
const LARGEST_WINDOW = 1_200;
const SMALLEST_WINDOW = 64;

/** By the group of the line; null before the first. Each process knows it for itself. */
export type GroupTurn = Turn<string | null>;

/** A line with ready jobs. */
export interface ReadyLine extends TurnTaker {
  readonly group: string;
  readonly head: Head;
  /** Where its jobs are. */
  readonly places: readonly Place[];
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
  /** How many jobs are wanted. */
  readonly jobs: number;
  /** Of all lines, if they were read already. */
  readonly heads?: readonly Head[] | undefined;
}

export class LineWalk {
  /** The groups of the queues that have more than fit into a window, sorted; null: to be read again. */
  readonly #known = new Map<string, readonly string[] | null>();

  /** All lines if they are few, else a window that begins with the one whose turn it is. */
  async look(db: Database, queue: QueueDocument, look: Look): Promise<Window> {
    const { now, turn, jobs, heads } = look;
    const known = heads === undefined ? await this.#groupsOf(db, queue._id) : [];
    if (known.length > LARGEST_WINDOW) {
      const { line: group, left } = turn;
      const from = group === null ? 0 : known.findIndex((one) => one > group);
      // A few more than jobs: some lines may be held, or have come to their end.
      const lines = Math.max(SMALLEST_WINDOW, Math.min(LARGEST_WINDOW, Math.ceil(jobs * 1.1)));
      const end = from === -1 ? null : (known[from + lines] ?? null);
      const start = group === null ? {} : { [left > 0 ? "$gte" : "$gt"]: group };
      const range = { ...start, ...(end === null ? {} : { $lte: end }) };
      return { ...(await linesIn(db, queue, { now, range })), end, isAll: false };
    }
    const all = await linesIn(db, queue, { now, ...(heads === undefined ? {} : { heads }) });
    if (all.lines.length > LARGEST_WINDOW) {
      const groups = all.lines.map(({ group }) => group);
      this.#known.set(queue._id, groups);
    }
    return { ...all, end: null, isAll: true };
  }

  /** None if they are few. */
  async #groupsOf(db: Database, queue: string): Promise<readonly string[]> {
    const known = this.#known.get(queue);
    if (known !== null) return known ?? [];
    const groups = await readGroups(db, queue);
    if (groups.length > LARGEST_WINDOW) this.#known.set(queue, groups);
    else this.#known.delete(queue);
    return groups;
  }

  /** Once round: lines have come and gone, so their groups are read again. */
  forget({ _id }: QueueDocument): void {
    if (this.#known.has(_id)) this.#known.set(_id, null);
  }
}

/** The groups alone: the index knows them. */
async function readGroups(db: Database, queue: string): Promise<string[]> {
  const names = lineStages(queue);
  const all = [...names, db.unionWith("jobs", names)];
  await db.options.clearing.done();
  const groups = (await db.aggregate<{ _id: string }>("fresh", all)).map(({ _id }) => _id);
  return [...new Set(groups)].sort((a, b) => (a < b ? -1 : 1));
}

/** Ready jobs are fresh, or have documents of their own. */
export const PLACES = ["fresh", "jobs"] as const;
export type Place = (typeof PLACES)[number];

/** A line's group, and its first job in one of the places. */
export interface Head {
  readonly _id: string;
  readonly head: string;
  readonly priority: number;
  readonly seq: number;
  /** If it is fresh, the pack that it is in, without the others in it. */
  readonly pack?: FreshPack;
}

/** From line to line through the index. Of fresh jobs the first one comes along. */
export function walkOf(place: Place, queue: string, range: Document = {}): Document[] {
  const [priority, seq] = [{ $first: "$priority" }, { $first: "$seq" }];
  const head = { head: { $first: "$_id" }, priority, seq };
  const firstOf = (list: string): Document => ({ $slice: [`$pack.${list}`, 1] });
  if (place === "jobs") return lineStages(queue, range, head);
  return [
    ...lineStages(queue, range, { ...head, pack: { $first: "$$ROOT" } }),
    { $set: { pack: { ids: firstOf("ids"), pack: firstOf("pack") } } },
  ];
}

async function headsIn(db: Database, queue: string, range: Document): Promise<Head[]> {
  // What was taken from a window is cleared before one comes round to it again.
  if (!("group" in range)) await db.options.clearing.done();
  const [fresh, jobs] = PLACES.map((place) => walkOf(place, queue, range));
  return db.aggregate<Head>("fresh", [...(fresh ?? []), db.unionWith("jobs", jobs ?? [])]);
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
    readonly range?: Record<string, string>;
    readonly heads?: readonly Head[];
  },
): Promise<{ readonly lines: ReadyLine[]; readonly room: number }> {
  const { now, range = {} } = look;
  const name = queue._id;
  const isRange = Object.keys(range).length > 0;
  const heads = byGroup(look.heads ?? (await headsIn(db, name, isRange ? { group: range } : {})));
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
      head: inOrder(some)[0] as Head,
      places: PLACES.filter((place) =>
        some.some(({ pack }) => (pack !== undefined) === (place === "fresh")),
      ),
      weight: line?.weight ?? null,
      room: cap === undefined ? Infinity : Math.max(0, cap - (active.get(group) ?? 0)),
      isCapped: cap !== undefined || queue.maxActive !== undefined,
      heldUntil: heldUntil(line?.holds, now),
    };
  });
  return { lines, room: queue.maxActive === undefined ? Infinity : queue.maxActive - total };
}
