/**
 * What is set for the lines of a queue: holds, caps, weights. A queue may have ten thousand of them, so each
 * process remembers them, and whoever changes some notes that in the queue's own document, which every lease
 * reads: `linesRev` counts the changes, and `changed` names the lines of the last ones. Whoever has missed no
 * more than these reads them alone.
 */
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import type { LineDocument, QueueDocument } from "./schema.ts";

/** So many changed lines are named. */
const NAMED = 50;
/** Whoever changed a line and died before it was noted must not be overheard for ever. */
const REMEMBERED_MS = 60_000;

export type LineSettings = ReadonlyMap<string, LineDocument>;

interface Known {
  /** Of the queue: it may have been forgotten, and be a new one. */
  readonly bornAt: number | undefined;
  readonly rev: number;
  readonly since: number;
  readonly lines: Map<string, LineDocument>;
}

const NONE: LineSettings = new Map();

export class LineBook {
  readonly #queues = new Map<string, Known>();

  /** As they are now that the queue was read. */
  async of(db: Database, queue: QueueDocument): Promise<LineSettings> {
    const { _id: name, bornAt, linesRev: rev = 0, changed = [] } = queue;
    if (rev === 0) return NONE;
    const known = this.#recent(name, bornAt);
    if (known?.rev === rev) return known.lines;
    const missed = known === null ? Infinity : rev - known.rev;
    const groups = missed > 0 && missed <= changed.length ? changed.slice(-missed) : null;
    const which = groups === null ? {} : { group: { $in: groups } };
    const found = await db.find<LineDocument>("lines", { queue: name, ...which });
    const lines = groups === null ? new Map<string, LineDocument>() : new Map(known?.lines);
    for (const group of groups ?? []) lines.delete(group);
    for (const line of found) lines.set(line.group, line);
    const since = groups === null ? performance.now() : (known?.since ?? 0);
    this.#queues.set(name, { bornAt, rev, since, lines });
    return lines;
  }

  #recent(queue: string, bornAt: number | undefined): Known | null {
    const known = this.#queues.get(queue);
    if (known === undefined || known.bornAt !== bornAt) return null;
    return performance.now() - known.since < REMEMBERED_MS ? known : null;
  }

  /** As they were last seen. */
  lastSeen(queue: string): LineSettings {
    return this.#queues.get(queue)?.lines ?? NONE;
  }
}

/** The change of a queue's document that notes these changed lines. */
export function noteChanged(groups: readonly string[]): Document {
  const $push = { changed: { $each: groups.slice(-NAMED), $slice: -NAMED } };
  return { $inc: { linesRev: groups.length }, $push };
}
