/**
 * How long this process has been in unbroken contact with the store. After an outage longer than a
 * lease every lease looks expired, although its holder lives: no process may reap until the holders had
 * one lease length to renew. A process that was frozen itself has lost contact as well, so a long gap
 * between two answers counts as a break; and so does a call that waits that long for its own answer,
 * whatever others were answered meanwhile: it may be the renewal of what looks expired.
 */
export interface AskedCall {
  readonly askedAt: number;
}

export class Contact {
  readonly #longestGapMs: () => number;
  /** In the order in which they were asked. */
  readonly #open = new Set<AskedCall>();
  #since: number | null = null;
  #last = 0;

  constructor(options: { readonly longestGapMs: () => number }) {
    this.#longestGapMs = options.longestGapMs;
  }

  asked(now: number): AskedCall {
    const call = { askedAt: now };
    this.#open.add(call);
    return call;
  }

  /** The store answered, be it with an error. */
  answered(call: AskedCall, now: number): void {
    this.#open.delete(call);
    if (this.#since === null || this.#isGap(this.#last, now) || this.#isGap(call.askedAt, now)) {
      this.#since = now;
    }
    this.#last = now;
  }

  /** It gave no answer, or that is not known. */
  broken(call: AskedCall): void {
    this.#open.delete(call);
    this.#since = null;
  }

  /** Milliseconds of unbroken contact up to `now`. */
  lengthMs(now: number): number {
    const [oldest] = this.#open;
    if (this.#since === null || this.#isGap(oldest?.askedAt ?? now, now)) return 0;
    return this.#isGap(this.#last, now) ? 0 : now - this.#since;
  }

  #isGap(from: number, now: number): boolean {
    return now - from > this.#longestGapMs();
  }
}
