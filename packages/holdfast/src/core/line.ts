/**
 * Where jobs wait. A queue is a named line-up; a group is an optional key inside it; a line is one
 * (queue, group), and jobs without a group are the line `""` of their queue.
 *
 * Inside a line: priority, then age. Between the lines of a queue: fair turns by weight.
 * Holds and caps are the only two ways in which anything keeps a ready job back.
 */

export interface Hold {
  /** `pause`, `cooldown:hubspot`, `breaker:x`: releasing removes only one's own. */
  readonly owner: string;
  readonly reason: string;
  readonly by: string | null;
  /** Null: until released. */
  readonly until: number | null;
  readonly since: number;
}

/** `group: null` means the whole queue; `""` the line of jobs without a group. */
export interface LineRef {
  readonly queue: string;
  readonly group: string | null;
}

export interface HoldChange extends LineRef {
  readonly owner: string;
  /** Null releases this owner's hold, if there is one. */
  readonly hold: {
    readonly forMs: number | null;
    readonly reason: string;
    readonly by: string | null;
  } | null;
}

/** A patch: absent leaves as it is, null clears. */
export interface LimitChange extends LineRef {
  /** Most jobs leased at once, of the queue or of this line. */
  readonly maxActive?: number | null;
  /** Queues only: the cap of every line that has none of its own, the line `""` included. */
  readonly maxActivePerGroup?: number | null;
  /** Queues only: an insert beyond this many waiting jobs, delayed ones included, is `full`. */
  readonly maxWaiting?: number | null;
  /** Lines only: jobs taken per turn, 1 to 1000. Default 1. */
  readonly weight?: number | null;
}

export interface QueueState {
  readonly queue: string;
  readonly maxActive: number | null;
  readonly maxActivePerGroup: number | null;
  readonly maxWaiting: number | null;
  readonly active: number;
  readonly holds: readonly Hold[];
}

export interface LineState {
  readonly queue: string;
  readonly group: string;
  /** Ready jobs, counted up to {@link COUNTED_TO}: that number means "that many or more". */
  readonly waiting: number;
  readonly active: number;
  readonly maxActive: number | null;
  readonly weight: number;
  readonly holds: readonly Hold[];
  /** When the job at the head of the line was created. */
  readonly oldestAt: number | null;
}

export const COUNTED_TO = 10_000;

/** A queue without jobs and settings is forgotten this long after its last use. */
export const QUEUE_REMEMBERED_MS = 3_600_000;

/** How far the poll of a worker stretches while nothing is found, if it does not poll more seldom anyway. */
export const LONGEST_POLL_MS = 5_000;

/**
 * A job due within this time wakes the workers of its queue when it is stored: they find nothing yet,
 * but `lease` tells them when to come back. A later one is found by a poll before it is due.
 */
export const WAKE_AHEAD_MS = LONGEST_POLL_MS;
