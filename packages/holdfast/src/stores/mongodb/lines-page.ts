/** The lines of a queue, for people. */
import { InvalidCursorError } from "../../core/errors.ts";
import { COUNTED_TO, type Hold, type LineState } from "../../core/line.ts";
import type { LinesPage, LinesRequest } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { countReady } from "./packs/fresh.ts";
import { PLACES } from "./line-walk.ts";
import { moveDue } from "./move-due.ts";
import { findQueues, holdsInForce } from "./queue-book.ts";
import { runningIn } from "./running.ts";
import type { JobDocument, LineDocument, QueueDocument } from "./schema.ts";
import { inOrder, LINE_ORDER, lineStages } from "./placement.ts";

const MOVE_AT_MOST = 1_000;

export async function lines(db: Database, name: string, page: LinesRequest): Promise<LinesPage> {
  const after = page.cursor == null ? null : groupOf(page.cursor);
  const [[queue], now] = await Promise.all([findQueues(db, [name]), db.now()]);
  if (queue === undefined) return { queue: null, lines: [], nextCursor: null };
  await Promise.all([moveDue(db, name, { now, atMost: MOVE_AT_MOST }), db.options.clearing.done()]);
  const limit = Math.max(0, page.limit);
  const shown =
    limit === 0 ? [] : await groupsOf(db, queue, { now, after, limit, from: page.from ?? "" });
  const onPage = shown.slice(0, limit);
  const states = onPage.map((line) => lineState(db, name, { ...line, now }));
  const last = onPage.at(-1)?.group;
  return {
    queue: {
      queue: name,
      maxActive: queue.maxActive ?? null,
      maxActivePerGroup: queue.maxActivePerGroup ?? null,
      maxWaiting: queue.maxWaiting ?? null,
      active: await db.sum("jobs", { leased: name }, { field: "left" }),
      holds: shownHolds(queue.holds, now),
    },
    lines: await Promise.all(states),
    nextCursor: last !== undefined && onPage.length < shown.length ? `g:${last}` : null,
  };
}

interface ShownLine {
  readonly group: string;
  readonly active: number;
  readonly settings: LineDocument | null;
}

/** The first lines behind `after` that are worth showing, and one more if there are more. */
async function groupsOf(
  db: Database,
  { _id: queue }: QueueDocument,
  look: { now: number; after: string | null; limit: number; from: string },
): Promise<ShownLine[]> {
  const { now, after, limit, from } = look;
  const begun = from === "" ? {} : { group: { $gte: from } };
  const range = after === null ? begun : { group: { $gt: after } };
  const first = [{ $sort: { _id: 1 } }, { $limit: limit + 1 }];
  const inForce = { $elemMatch: { $or: [{ until: null }, { until: { $gt: now } }] } };
  const exists = { $exists: true };
  const isSet = { $or: [{ maxActive: exists }, { weight: exists }, { holds: inForce }] };
  const ready = [...lineStages(queue, range), ...first];
  const [waiting, running, settings] = await Promise.all([
    db.aggregate<{ _id: string }>("fresh", [...ready, db.unionWith("jobs", ready)]),
    runningIn(db, queue),
    db.find<LineDocument>(
      "lines",
      { queue, ...range, ...isSet },
      {
        sort: { group: 1 },
        limit: limit + 1,
      },
    ),
  ]);
  const isInside = (group: string) =>
    after === null ? byBytes(group, from) >= 0 : byBytes(group, after) > 0;
  const active = [...running.keys()].filter(isInside);
  const groups = new Set([...waiting.map(({ _id }) => _id), ...active]);
  for (const { group } of settings) groups.add(group);
  const sorted = [...groups].sort(byBytes).slice(0, limit + 1);
  return sorted.map((group) => ({
    group,
    active: running.get(group) ?? 0,
    settings: settings.find((line) => line.group === group) ?? null,
  }));
}

/** As the server compares text. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

type LineHead = Pick<JobDocument, "createdAt" | "priority" | "seq">;

async function lineState(
  db: Database,
  queue: string,
  { group, active, settings, now }: ShownLine & { readonly now: number },
): Promise<LineState> {
  const filter: Document = { ready: queue, group };
  const [waiting, ...heads] = await Promise.all([
    countReady(db, filter, COUNTED_TO),
    ...PLACES.map((place) =>
      db.find<LineHead>(place, filter, {
        sort: LINE_ORDER,
        limit: 1,
        projection: { createdAt: 1, priority: 1, seq: 1 },
      }),
    ),
  ]);
  const [head] = inOrder(heads.flat());
  return {
    queue,
    group,
    waiting,
    active,
    maxActive: settings?.maxActive ?? null,
    weight: settings?.weight ?? 1,
    holds: shownHolds(settings?.holds, now),
    oldestAt: head?.createdAt ?? null,
  };
}

/** By owner, so that every store shows them in the same order. */
function shownHolds(holds: readonly Hold[] | undefined, now: number): Hold[] {
  return holdsInForce(holds, now).sort((a, b) => (a.owner < b.owner ? -1 : 1));
}

function groupOf(cursor: string): string {
  if (cursor.startsWith("g:")) return cursor.slice(2);
  throw new InvalidCursorError("this cursor is not from a page of lines: start again without one");
}
