/** Counts of what each key did lately, in a bounded map: the key that was silent the longest is forgotten. */

export interface RecentCountsOptions {
  readonly withinMs: number;
  readonly mostKeys?: number;
  readonly now: () => number;
}

export class RecentCounts {
  readonly #times = new Map<string, number[]>();
  readonly #options: RecentCountsOptions;

  constructor(options: RecentCountsOptions) {
    this.#options = options;
  }

  /** How many there were in the last `withinMs`, and when the oldest of them is past. */
  of(key: string): { readonly count: number; readonly freeInMs: number } {
    const { withinMs } = this.#options;
    const now = this.#options.now();
    const from = now - withinMs;
    // One that is yet to come is of a clock that was set back.
    const times = (this.#times.get(key) ?? []).filter((at) => at > from && at <= now);
    const [oldest] = times;
    return { count: times.length, freeInMs: oldest === undefined ? 0 : oldest - from };
  }

  add(key: string, most: number): void {
    const { now, mostKeys = 10_000 } = this.#options;
    const times = [...(this.#times.get(key) ?? []), now()].slice(-most);
    this.#times.delete(key);
    this.#times.set(key, times);
    if (this.#times.size <= mostKeys) return;
    for (const first of this.#times.keys()) {
      this.#times.delete(first);
      break;
    }
  }
}
