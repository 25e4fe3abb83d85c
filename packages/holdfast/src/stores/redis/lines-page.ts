import { InvalidCursorError } from "../../core/errors.ts";
import { COUNTED_TO, type Hold, type LineState } from "../../core/line.ts";
import type { LinesPage, LinesRequest } from "../../core/store.ts";
import { optional } from "./args.ts";
import type { Reply } from "./client-like.ts";
import { list, number, numberOrNull, rows, text, textOrNull } from "./reply.ts";
import type { Server } from "./server.ts";

export async function lines(server: Server, name: string, page: LinesRequest): Promise<LinesPage> {
  const after = typeof page.cursor === "string" ? groupOf(page.cursor) : null;
  const args = [...optional(after), Math.max(0, page.limit), page.from ?? ""];
  const reply = list(await server.onQueues("lines", [name], args));
  if (reply.length === 0) return { queue: null, lines: [], nextCursor: null };
  const [nowReply, maxActive, maxPerGroup, maxWaiting, holds, active, isMore, last, ...rest] =
    reply;
  const now = number(nowReply);
  return {
    queue: {
      queue: name,
      maxActive: numberOrNull(maxActive),
      maxActivePerGroup: numberOrNull(maxPerGroup),
      maxWaiting: numberOrNull(maxWaiting),
      active: number(active),
      holds: readHolds(holds, now),
    },
    lines: rows(rest, 7)
      .filter((row) => isWorthShowing(row, now))
      .map((row) => lineState(name, row, now)),
    nextCursor: number(isMore) === 1 ? `g:${text(last)}` : null,
  };
}

/** A line that is kept only for a hold that has ended is not worth a row. */
function isWorthShowing(row: readonly Reply[], now: number): boolean {
  const [, waiting, active, maxActive, weight, holds] = row;
  const hasJobs = number(waiting) > 0 || number(active) > 0;
  const hasSettings = textOrNull(maxActive) !== null || textOrNull(weight) !== null;
  return hasJobs || hasSettings || readHolds(holds, now).length > 0;
}

function lineState(queue: string, row: readonly Reply[], now: number): LineState {
  const [group, waiting, active, maxActive, weight, holds, oldestAt] = row;
  return {
    queue,
    group: text(group),
    waiting: Math.min(number(waiting), COUNTED_TO),
    active: number(active),
    maxActive: numberOrNull(maxActive),
    weight: numberOrNull(weight) ?? 1,
    holds: readHolds(holds, now),
    oldestAt: numberOrNull(oldestAt),
  };
}

type KeptHold = Pick<Hold, "reason" | "since"> & { readonly by?: string; readonly until?: number };

/** By owner, so that every store shows them in the same order. */
function readHolds(reply: Reply | undefined, now: number): Hold[] {
  const json = textOrNull(reply);
  if (json === null) return [];
  return Object.entries(JSON.parse(json) as Record<string, KeptHold>)
    .map(([owner, { reason, by = null, until = null, since }]) => ({
      ...{ owner, reason, by, until, since },
    }))
    .filter(({ until }) => until === null || until > now)
    .sort((a, b) => (a.owner < b.owner ? -1 : 1));
}

function groupOf(cursor: string): string {
  if (cursor.startsWith("g:")) return cursor.slice(2);
  throw new InvalidCursorError("this cursor is not from a page of lines: start again without one");
}
