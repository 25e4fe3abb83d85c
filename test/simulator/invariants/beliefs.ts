/**
 * Until when a process may believe that a lease is its own: send time of the last acknowledged lease
 * or renewal, plus the lease, less a margin of one second (or a tenth of a short lease).
 */
import { attemptKey, type Court, type Run } from "../watcher.ts";

const MOST_REMEMBERED = 3_000;

export class Beliefs {
  readonly #leaseMs: number;
  readonly #now: () => number;
  readonly #afterTheEnd: "counts" | "is too late";
  readonly #sentAt = new Map<string, number>();

  /**
   * Whether a renewal that is granted when its lease had been given up counts depends on what really
   * happened: whoever slept through the end hears of it first. Each invariant takes the view that
   * never accuses wrongly.
   */
  constructor({ leaseMs, now }: Court, afterTheEnd: "counts" | "is too late") {
    this.#leaseMs = leaseMs;
    this.#now = now;
    this.#afterTheEnd = afterTheEnd;
  }

  granted(run: Run, sentAt: number): void {
    const key = attemptKey(run);
    const known = this.#sentAt.get(key) ?? 0;
    const hasEnded = known > 0 && this.#now() >= this.endsAt(run);
    if (hasEnded && this.#afterTheEnd === "is too late") return;
    this.#sentAt.delete(key);
    this.#sentAt.set(key, Math.max(known, sentAt));
    if (this.#sentAt.size > MOST_REMEMBERED) this.#sentAt.delete(this.#sentAt.keys().next().value!);
  }

  /** Long ago if it was never told of it. */
  endsAt(attempt: Pick<Run, "jobId" | "fence">): number {
    const sentAt = this.#sentAt.get(attemptKey(attempt)) ?? -Infinity;
    return sentAt + this.#leaseMs - Math.min(1_000, this.#leaseMs / 10);
  }
}
