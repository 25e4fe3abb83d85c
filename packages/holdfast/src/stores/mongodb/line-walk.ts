/**
 * Which lines of a queue have ready jobs. Leases are found through lines, never through jobs: the
 * server jumps from line to line through its index, so a line of a million jobs is one step.
 *
 * A few lines are seen anew by every lease. Many are walked once, which takes the server some microseconds
 * each; after that a lease looks at the next ones only, as many as it wants jobs, and passes by those that
 * are known to be held without asking. So ten thousand held lines cost it nothing. New lines are found by
 * another walk: when the known ones have nothing left, or when the last walk was twenty times as long ago as
 * it took.
 */
import type { Turn } from "../../core/turns.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import type { LineSettings } from "./line-book.ts";
import { eachList } from "./packs/packs.ts";
import { lineStages } from "./placement.ts";
import { heldUntil } from "./queue-book.ts";
import type { FreshPack } from "./schema.ts";

/** With more lines than this a lease does not look at all of them. */
const FEW = 64;
const LARGEST_WINDOW = 1_200;
/** A walk is a twentieth of the time at most, and of the time of a queue that has nothing open a quarter. */
const PAUSE = 20;
const SHORT_PAUSE = 4;
const LONGEST_PAUSE_MS = 5_000;

/** By the group of the line; null before the first. Each process knows it for itself. */
export type GroupTurn = Turn<string | null>;

interface Known {
  /** Sorted. */
  readonly groups: readonly string[];
  readonly walkedAt: number;
  readonly tookMs: number;
  /** Those of them that are not held, as it was last thought out. */
  open: Open | null;
}

interface Open {
  readonly settings: LineSettings;
  readonly groups: readonly string[];
  /** Until the first of the holds ends. */
  readonly until: number;
}

/** Which lines are looked at. */
export interface Range {
  /** Null: all, whether they are known or not. */
  readonly groups: readonly string[] | null;
  /** No others are known that are not held. */
  readonly isAll: boolean;
}

const ALL: Range = { groups: null, isAll: true };

interface Want {
  readonly now: number;
  readonly turn: GroupTurn;
  /** How many jobs are wanted. */
  readonly jobs: number;
  readonly settings: LineSettings;
}

export class LineWalk {
  /** The queues of many lines. */
  readonly #queues = new Map<string, Known>();

  isLong(queue: string): boolean {
    return this.#queues.has(queue);
  }

  /** The lines to look at next, beginning with the one whose turn it is. */
  next(queue: string, want: Want): Range {
    const known = this.#queues.get(queue);
    if (known === undefined || ageOf(known) > Math.min(LONGEST_PAUSE_MS, PAUSE * known.tookMs)) {
      return ALL;
    }
    const { turn, now, settings, jobs } = want;
    const { groups } = openOf(known, settings, now);
    const isNext = (group: string): boolean =>
      turn.line === null || (turn.left > 0 ? group >= turn.line : group > turn.line);
    const start = Math.max(0, groups.findIndex(isNext));
    // A few more than jobs: some lines may be full, or have come to their end.
    const most = Math.min(LARGEST_WINDOW, Math.max(FEW, Math.ceil(jobs * 1.1)));
    const wanted = [...groups.slice(start), ...groups.slice(0, start)].slice(0, most);
    if (wanted.length === 0 && this.#isRested(known)) return ALL;
    return { groups: wanted, isAll: wanted.length < most };
  }

  /** Hears which of the lines that were looked at have ready jobs; `tookMs` if all were. */
  saw(
    queue: string,
    asked: readonly string[] | null,
    { groups, tookMs }: { readonly groups: readonly string[]; readonly tookMs: number },
  ): void {
    if (asked === null) {
      if (groups.length <= FEW) this.#queues.delete(queue);
      else this.#queues.set(queue, { groups, walkedAt: performance.now(), tookMs, open: null });
      return;
    }
    const known = this.#queues.get(queue);
    if (known === undefined || asked.length === groups.length) return;
    const there = new Set(groups);
    const gone = new Set(asked.filter((group) => !there.has(group)));
    const isThere = (group: string): boolean => !gone.has(group);
    const open = known.open && { ...known.open, groups: known.open.groups.filter(isThere) };
    this.#queues.set(queue, { ...known, groups: known.groups.filter(isThere), open });
  }

  /** Nothing was open: all lines are looked at again, once it is time. */
  isStale(queue: string): boolean {
    const known = this.#queues.get(queue);
    return known !== undefined && this.#isRested(known);
  }

  /** When a queue of many lines, of which none is open, may have something: a hold ends, or it is walked. */
  opensAt(queue: string, now: number, settings: LineSettings): number {
    const known = this.#queues.get(queue);
    if (known === undefined) return Infinity;
    const walksAt = Math.ceil(now + Math.max(1, SHORT_PAUSE * known.tookMs - ageOf(known)));
    return Math.min(walksAt, openOf(known, settings, now).until);
  }

  #isRested(known: Known): boolean {
    return ageOf(known) > Math.min(LONGEST_PAUSE_MS, SHORT_PAUSE * known.tookMs);
  }
}

/** Thought out again when settings have changed or a hold has ended: it takes a while of very many lines. */
function openOf(known: Known, settings: LineSettings, now: number): Open {
  const { open, groups: all } = known;
  if (open?.settings === settings && now < open.until) return open;
  let until = Infinity;
  const isOpen = (group: string): boolean => {
    const end = heldUntil(settings.get(group)?.holds, now);
    until = Math.min(until, end ?? Infinity);
    return end === null;
  };
  const groups = settings.size === 0 ? all : all.filter(isOpen);
  known.open = { settings, groups, until };
  return known.open;
}

function ageOf({ walkedAt }: Known): number {
  return performance.now() - walkedAt;
}

/** Ready jobs are fresh, or have documents of their own. */
export const PLACES = ["fresh", "jobs"] as const;
export type Place = (typeof PLACES)[number];

/** A line's group, and its first job in one of the places. */
export interface FirstOfLine {
  readonly _id: string;
  readonly head: FirstJob;
}

/** Of a fresh one, the pack that it is in without the others in it; else its id and place. */
export type FirstJob = (FreshPack | { readonly _id: string }) & {
  readonly priority: number;
  readonly seq: number;
};

/** From line to line through the index. Of fresh jobs the first one comes along. */
export function walkOf(place: Place, queue: string, groups: readonly string[] | null): Document[] {
  const range = groups === null ? {} : { group: { $in: groups } };
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
export async function firstJobs(
  db: Database,
  queue: string,
  groups: readonly string[] | null,
): Promise<FirstOfLine[]> {
  await db.options.clearing.done();
  const [fresh, jobs] = PLACES.map((place) => walkOf(place, queue, groups));
  return db.aggregate<FirstOfLine>("fresh", [...(fresh ?? []), db.unionWith("jobs", jobs ?? [])]);
}
