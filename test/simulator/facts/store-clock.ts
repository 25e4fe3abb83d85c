/**
 * What the store's clock says, by the rule that it follows its host's and never runs backwards. A
 * store looks at its host's clock when it likes; whenever it does, it is noted here.
 */
export class StoreClock {
  readonly #host: () => number;
  #micros = 0;

  constructor(host: () => number) {
    this.#host = host;
  }

  /** The store has looked at its host's clock and found this many milliseconds. */
  looked(hostMs: number): void {
    this.#micros = Math.max(this.#micros, Math.floor(hostMs * 1000));
  }

  get micros(): number {
    return this.#micros;
  }

  /** In milliseconds, as of the last look. */
  get now(): number {
    return Math.floor(this.#micros / 1000);
  }

  /** What it would say if somebody looked now. */
  peek(): number {
    return Math.floor(Math.max(this.#micros, Math.floor(this.#host() * 1000)) / 1000);
  }

  /** The instant so long after now; what was asked is never undercut. */
  after(ms: number): number {
    return this.now + Math.max(0, Math.ceil(ms));
  }
}
