/**
 * Types this worker has no handler for. Their jobs are handed back, at first for five seconds, then
 * for longer; people hear of each type once a minute.
 */
import type { Logger } from "../logger.ts";
import type { Runtime } from "../runtime.ts";

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;
const REPORT_EVERY_MS = 60_000;
/** Types come from stored jobs: a flood of them must not grow without end. */
const MOST_TYPES = 1_000;

interface Meeting {
  backMs: number;
  backUntil: number;
  reportedAt: number;
}

export class UnknownTypes {
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  readonly #meetings = new Map<string, Meeting>();

  constructor(options: { readonly runtime: Runtime; readonly logger: Logger }) {
    this.#runtime = options.runtime;
    this.#logger = options.logger;
  }

  /** Answers for how long to hand the job back. */
  met(type: string, queue: string): number {
    const now = this.#runtime.monotonic();
    let meeting = this.#meetings.get(type);
    if (!meeting) {
      if (this.#meetings.size >= MOST_TYPES) this.#meetings.clear();
      meeting = { backMs: FIRST_MS, backUntil: now + FIRST_MS, reportedAt: -Infinity };
      this.#meetings.set(type, meeting);
    } else if (now >= meeting.backUntil) {
      // Doubled once a round, however many jobs of the type the round meets.
      meeting.backMs = Math.min(meeting.backMs * 2, LONGEST_MS);
      meeting.backUntil = now + meeting.backMs;
    }
    if (now - meeting.reportedAt >= REPORT_EVERY_MS) {
      meeting.reportedAt = now;
      this.#logger.warn(
        `no handler for type "${type}" in this worker of queue "${queue}": its jobs are handed back; register one with hf.handle, or give the type a queue of its own`,
      );
    }
    return meeting.backMs;
  }
}
