/**
 * Finding. Each queue walks its own jobs by their running number and answers ids; the walks are merged
 * here, because the numbers grow with time from queue to queue. The cursor names the last number looked
 * at, so a page goes on in the right place whatever happened to that job meanwhile.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import type { JobFilter, JobPage, JobRef, PageRequest } from "../../core/store.ts";
import { filterArgs, flag } from "./args.ts";
import { getSummaries, type Looking } from "./job-view.ts";
import { list, number, numberOrNull, rows, text } from "./reply.ts";

/** What one step of a walk looks at: some ten milliseconds of the server's time. */
const LOOK_AT_MOST = 4_000;
/** A walk through all jobs goes on for so long in one call. What is listed somewhere is walked to its end. */
const WALK_MS = 50;

export async function find(
  looking: Looking,
  filter: JobFilter,
  page: PageRequest,
): Promise<JobPage> {
  const until = performance.now() + WALK_MS;
  const refs: JobRef[] = [];
  let nextCursor = page.cursor ?? null;
  for (let isThrough = false; !isThrough;) {
    const rest = { ...page, limit: page.limit - refs.length, cursor: nextCursor };
    const step = await pageOfIds(looking, filter, { page: rest, frozenAt: null });
    refs.push(...step.refs);
    ({ nextCursor } = step);
    const isLate = !step.isListed && performance.now() >= until;
    isThrough = refs.length >= page.limit || nextCursor === null || isLate;
  }
  if (refs.length === 0) return { jobs: [], nextCursor };
  const jobs = await getSummaries(looking, refs, page.without);
  return { jobs: jobs.filter((job) => job !== null), nextCursor };
}

interface Found extends Required<JobRef> {
  readonly seq: number;
}

interface Walk {
  readonly found: readonly Found[];
  /** The number of the last job looked at; null: there is nothing beyond. */
  readonly reached: number | null;
  /** It was a walk through a list of what was looked for. */
  readonly isListed: boolean;
}

interface IdPage {
  readonly refs: readonly JobRef[];
  readonly nextCursor: string | null;
  readonly isListed: boolean;
}

export async function pageOfIds(
  { server, queues }: Looking,
  filter: JobFilter,
  how: { readonly page: PageRequest; readonly frozenAt: number | null },
): Promise<IdPage> {
  const { limit, cursor = null, order = "newest" } = how.page;
  const isNewest = order === "newest";
  const after = cursor === null ? null : placeOf(cursor, order);
  if (limit <= 0) return { refs: [], nextCursor: null, isListed: true };
  const names = filter.queue === undefined ? await queues.all() : [filter.queue];
  const conditions = filterArgs(filter, how.frozenAt);
  const walks = await Promise.all(
    names.map(async (queue): Promise<Walk> => {
      const from = startOf(after, queue, isNewest);
      const args = [flag(isNewest), from, limit, LOOK_AT_MOST, ...conditions];
      const [reached, isListed, ...found] = list(await server.onQueues("find", [queue], args));
      return {
        found: rows(found, 2).map(([id, seq]) => ({ id: text(id), queue, seq: number(seq) })),
        reached: numberOrNull(reached),
        isListed: text(isListed) === "1",
      };
    }),
  );
  const isListed = walks.every((walk) => walk.isListed || walk.reached === null);
  return { ...merge(walks, { names, limit, order }), isListed };
}

/** Only as far as every walk has come, and only so many. */
function merge(
  walks: readonly Walk[],
  how: { readonly names: readonly string[]; readonly limit: number; readonly order: Order },
): { readonly refs: readonly JobRef[]; readonly nextCursor: string | null } {
  const { names, limit, order } = how;
  const isBefore = (a: Place, b: Place): number =>
    order === "newest" ? -compare(a, b) : compare(a, b);
  const ends = walks.flatMap(({ reached }, index): Place[] =>
    reached === null ? [] : [{ seq: reached, queue: names[index] ?? "" }],
  );
  const [end = null] = ends.sort(isBefore);
  const found = walks.flatMap((walk) => walk.found).sort(isBefore);
  const within = end === null ? found : found.filter((job) => isBefore(job, end) <= 0);
  const refs = within.slice(0, limit);
  const last = refs.at(-1);
  const isCut = refs.length === limit && last !== undefined;
  const isMore = end !== null || found.length > refs.length;
  const nextAt = isCut ? last : end;
  return { refs, nextCursor: isMore && nextAt !== null ? cursorOf(nextAt, order) : null };
}

type Order = "newest" | "oldest";

/** In a cluster two queues may have the same number: then their names decide. */
interface Place {
  readonly seq: number;
  readonly queue: string;
}

function compare(a: Place, b: Place): number {
  if (a.seq !== b.seq) return a.seq - b.seq;
  return a.queue === b.queue ? 0 : a.queue < b.queue ? -1 : 1;
}

/** A bound of ZRANGE: a parenthesis leaves the number itself out. */
function startOf(after: Place | null, queue: string, isNewest: boolean): string {
  if (after === null) return isNewest ? "+inf" : "-inf";
  const isPast = isNewest ? queue < after.queue : queue > after.queue;
  return `${isPast ? "" : "("}${after.seq}`;
}

function cursorOf({ seq, queue }: Place, order: Order): string {
  return `${order === "newest" ? "n" : "o"}:${seq}:${queue}`;
}

function placeOf(cursor: string, order: Order): Place {
  const [, kind, seq = "", queue = ""] = /^([no]):([0-9]{1,16}):(.*)$/s.exec(cursor) ?? [];
  const place = { seq: Number(seq), queue };
  if (kind !== undefined && cursor === cursorOf(place, order)) return place;
  throw new InvalidCursorError(
    "this cursor is not from a page of this order: start again without one",
  );
}
