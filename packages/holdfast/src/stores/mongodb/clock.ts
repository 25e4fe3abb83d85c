/**
 * The store's clock is the clock of the primary. Each process remembers the latest it has seen: after
 * the host's clock jumps back, or another node with a slower clock is elected, this one stands still
 * until that has caught up.
 *
 * A verb reads the clock before it writes. What it writes is then a moment older than the write, never
 * younger: a lease ends early rather than late, and nothing is reaped before its time. For the tenth of
 * a second after it was asked for, the clock is carried on by the time that has passed here since the
 * answer, which is no later either: busy processes would ask for it hundreds of times a second. An answer
 * that came late, or was read late by a process that stood still, may be long past: it is for those alone
 * who had asked before.
 */
import type { DbLike, Document } from "./driver-like.ts";

const CARRIED_ON_MS = 100;

export class Clock {
  /** @internal A clock that a test brings. */
  readonly #still: (() => number) | null;
  #seen = 0;
  /** What the server said last, and when it was asked and heard, by our own steady clock. */
  #said = { ms: 0, askedAt: -Infinity, heardAt: 0 };

  constructor(still: (() => number) | null) {
    this.#still = still;
  }

  /** In milliseconds. */
  async now(db: DbLike, options: Document): Promise<number> {
    if (this.#still !== null) return this.saw(this.#still());
    const askedAt = performance.now();
    const { ms: said, heardAt } = this.#said;
    if (askedAt - this.#said.askedAt < CARRIED_ON_MS) return this.saw(said + askedAt - heardAt);
    const { localTime } = await db.command({ hello: 1 }, options);
    const ms = localTime instanceof Date ? localTime.getTime() : 0;
    this.#said = { ms, askedAt, heardAt: performance.now() };
    return this.saw(ms);
  }

  saw(ms: number): number {
    this.#seen = Math.max(this.#seen, Math.floor(ms));
    return this.#seen;
  }

  /** It may be moved by hand, also between two calls that follow each other at once. */
  get isStill(): boolean {
    return this.#still !== null;
  }

  /** The same instant for a pipeline of the server, in milliseconds. */
  expression(): unknown {
    if (this.#still !== null) return this.saw(this.#still());
    return { $max: [{ $toLong: "$$NOW" }, this.#seen] };
  }
}

/** The next fence after `last`: max(last + 1, clock in µs), so that it grows even if it was lost. */
export function fenceAfter(last: number, now: number): number {
  return Math.max(last + 1, now * 1_000);
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
