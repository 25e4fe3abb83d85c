/** Queues and their lines as people and programs see them: with dates. */
import type { Hold, LineState, QueueState } from "../../core/line.ts";
import type { LinesPage } from "../../core/store.ts";

export interface HoldView extends Omit<Hold, "until" | "since"> {
  /** Null: until released. */
  readonly until: Date | null;
  readonly since: Date;
}

export interface QueueView extends Omit<QueueState, "holds"> {
  readonly holds: readonly HoldView[];
}

export interface LineView extends Omit<LineState, "holds" | "oldestAt"> {
  readonly holds: readonly HoldView[];
  /** When the job at the head of the line was created. */
  readonly oldestAt: Date | null;
}

export interface LinesView {
  /** Null: the store knows no such queue. */
  readonly queue: QueueView | null;
  readonly lines: readonly LineView[];
  readonly nextCursor: string | null;
}

export function linesView({ queue, lines, nextCursor }: LinesPage): LinesView {
  return {
    queue: queue && { ...queue, holds: queue.holds.map(holdView) },
    lines: lines.map((line) => ({
      ...line,
      holds: line.holds.map(holdView),
      oldestAt: line.oldestAt === null ? null : new Date(line.oldestAt),
    })),
    nextCursor,
  };
}

function holdView(hold: Hold): HoldView {
  const until = hold.until === null ? null : new Date(hold.until);
  return { ...hold, until, since: new Date(hold.since) };
}
