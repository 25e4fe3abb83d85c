/** What an attempt is, for those who look at it or run it: nothing of it can be changed through here. */
import type { Attempt } from "./attempt.ts";

/** Words are looked up when they are read: most are never asked for. */
export class AttemptFacts {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  get id(): string {
    return this.#attempt.job.id;
  }
  get type(): string {
    return this.#attempt.job.type;
  }
  get queue(): string {
    return this.#attempt.job.queue;
  }
  /** Null for a job without a group. */
  get group(): string | null {
    return this.#attempt.job.group || null;
  }
  /** 1 for the first. */
  get attempt(): number {
    return this.#attempt.job.attempt;
  }
  get maxAttempts(): number {
    return this.#attempt.job.maxAttempts;
  }
  /** How often a worker was lost while it ran this job. */
  get crashes(): number {
    return this.#attempt.job.crashes;
  }
  /** Grows with every lease: hand it to whatever must refuse a stale worker. */
  get fence(): number {
    return this.#attempt.job.fence;
  }
  get tags(): readonly string[] {
    return this.#attempt.job.tags;
  }
  get trace(): string | null {
    return this.#attempt.job.trace;
  }
  get createdAt(): Date {
    return new Date(this.#attempt.job.createdAt);
  }
  /** Aborts on timeout, cancel, lost lease and shutdown; its reason says which. */
  get signal(): AbortSignal {
    return this.#attempt.signal;
  }
}
