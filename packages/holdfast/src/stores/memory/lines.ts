import { InvalidCursorError } from "../../core/errors.ts";
import {
  COUNTED_TO,
  type Hold,
  type HoldChange,
  type LimitChange,
  type LineState,
} from "../../core/line.ts";
import type { LinesPage, LinesRequest } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { holdsInForce } from "./gates.ts";
import { copies } from "./snapshot.ts";
import { dropIfIdle, moveDue } from "./placement.ts";
import { lineOf, queueOf, type MemoryLine, type MemoryQueue, type MemoryState } from "./state.ts";

export function hold(state: MemoryState, changes: readonly HoldChange[]): void {
  const now = state.clock.now();
  for (const change of changes) {
    if (change.hold === null) {
      release(state, change);
      continue;
    }
    const { forMs, reason, by } = change.hold;
    const until = forMs === null ? null : instantAfter(now, forMs);
    const queue = queueOf(state, change.queue);
    const { holds } = change.group === null ? queue : lineOf(queue, change.group);
    holds.set(change.owner, { owner: change.owner, reason, by, until, since: now });
  }
}

/** Only one's own, and only if there is one: releasing makes no queue and no line. */
function release(state: MemoryState, { queue: name, group, owner }: HoldChange): void {
  const queue = state.queues.get(name);
  if (queue === undefined) return;
  if (group === null) {
    queue.holds.delete(owner);
  } else {
    const line = queue.lines.get(group);
    if (line === undefined) return;
    line.holds.delete(owner);
    dropIfIdle(queue, line);
  }
  wakeIfReady(state, queue);
}

export function limit(state: MemoryState, changes: readonly LimitChange[]): void {
  for (const change of changes) {
    const queue = queueOf(state, change.queue);
    if (change.group === null) limitQueue(queue, change);
    else limitLine(queue, lineOf(queue, change.group), change);
    wakeIfReady(state, queue);
  }
}

function limitQueue(queue: MemoryQueue, change: LimitChange): void {
  const { maxActive, maxActivePerGroup, maxWaiting } = change;
  if (maxActive !== undefined) queue.maxActive = maxActive;
  if (maxActivePerGroup !== undefined) queue.maxActivePerGroup = maxActivePerGroup;
  if (maxWaiting !== undefined) queue.maxWaiting = maxWaiting;
}

function limitLine(queue: MemoryQueue, line: MemoryLine, change: LimitChange): void {
  if (change.maxActive !== undefined) line.maxActive = change.maxActive;
  if (change.weight !== undefined) line.weight = change.weight;
  dropIfIdle(queue, line);
}

function wakeIfReady(state: MemoryState, queue: MemoryQueue): void {
  if (queue.ready > 0) state.wakeups.queue(queue.name);
}

export function lines(state: MemoryState, name: string, page: LinesRequest): LinesPage {
  const now = state.clock.now();
  const queue = state.queues.get(name);
  const after = typeof page.cursor === "string" ? groupOf(page.cursor) : null;
  if (queue === undefined) return { queue: null, lines: [], nextCursor: null };
  moveDue(state, queue, { now });
  const shown = [...queue.lines.values()]
    .filter(({ group }) => (after === null ? group >= (page.from ?? "") : group > after))
    .filter((line) => isWorthShowing(line, now))
    .sort((a, b) => (a.group < b.group ? -1 : 1));
  const onPage = shown.slice(0, Math.max(0, page.limit));
  const last = onPage.at(-1);
  return {
    queue: {
      queue: name,
      maxActive: queue.maxActive,
      maxActivePerGroup: queue.maxActivePerGroup,
      maxWaiting: queue.maxWaiting,
      active: queue.active,
      holds: shownHolds(queue.holds, now),
    },
    lines: onPage.map((line) => lineState(name, line, now)),
    nextCursor: last !== undefined && onPage.length < shown.length ? `g:${last.group}` : null,
  };
}

/** A line that is kept only for a hold that has ended is not worth a row. */
function isWorthShowing(line: MemoryLine, now: number): boolean {
  return (
    line.ready.size > 0 ||
    line.active > 0 ||
    line.maxActive !== null ||
    line.weight !== null ||
    holdsInForce(line.holds, now).length > 0
  );
}

function lineState(queue: string, line: MemoryLine, now: number): LineState {
  return {
    queue,
    group: line.group,
    waiting: Math.min(line.ready.size, COUNTED_TO),
    active: line.active,
    maxActive: line.maxActive,
    weight: line.weight ?? 1,
    holds: shownHolds(line.holds, now),
    oldestAt: line.ready.peek()?.createdAt ?? null,
  };
}

/** By owner, so that every store shows them in the same order. */
function shownHolds(holds: ReadonlyMap<string, Hold>, now: number): Hold[] {
  return copies(holdsInForce(holds, now)).sort((a, b) => (a.owner < b.owner ? -1 : 1));
}

function groupOf(cursor: string): string {
  if (cursor.startsWith("g:")) return cursor.slice(2);
  throw new InvalidCursorError("this cursor is not from a page of lines: start again without one");
}
