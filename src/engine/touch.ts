/**
 * How long this process has been in unbroken touch with the store. After an outage longer than a
 * lease every lease looks expired, although its holder lives: nobody may reap until the holders had
 * one lease length to renew. A process that was frozen itself has lost touch as well, so a long gap
 * between two answers counts as a break.
 */
export class Touch {
  readonly #longestGapMs: number;
  #since: number | null = null;
  #last = 0;

  constructor(options: { readonly longestGapMs: number }) {
    this.#longestGapMs = options.longestGapMs;
  }

  /** The store answered a call. */
  answered(now: number): void {
    if (this.#since === null || now - this.#last > this.#longestGapMs) this.#since = now;
    this.#last = now;
  }

  /** A call failed, or nobody knows. */
  broken(): void {
    this.#since = null;
  }

  /** Milliseconds of unbroken touch up to `now`. */
  lengthMs(now: number): number {
    if (this.#since === null || now - this.#last > this.#longestGapMs) return 0;
    return now - this.#since;
  }
}
