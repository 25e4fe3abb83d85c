/** The limits of a portal, in rolling windows. */

export interface RateLimits {
  /** Default 100 in ten seconds. */
  readonly max?: number | undefined;
  readonly intervalMs?: number | undefined;
  /** Default 250,000. */
  readonly daily?: number | undefined;
  /** Default 5 a second. */
  readonly searchPerSecond?: number | undefined;
}

export type Policy = "TEN_SECONDLY_ROLLING" | "SECONDLY" | "DAILY";

export class RateWindows {
  readonly max: number;
  readonly intervalMs: number;
  readonly daily: number;
  readonly #searchPerSecond: number;
  readonly #now: () => number;
  #calls: number[] = [];
  #searches: number[] = [];
  #today = 0;

  constructor(limits: RateLimits, now: () => number) {
    this.max = limits.max ?? 100;
    this.intervalMs = limits.intervalMs ?? 10_000;
    this.daily = limits.daily ?? 250_000;
    this.#searchPerSecond = limits.searchPerSecond ?? 5;
    this.#now = now;
  }

  /** Null: it passes, and counts. */
  take(isSearch: boolean): Policy | null {
    const now = this.#now();
    this.#calls = this.#calls.filter((at) => at > now - this.intervalMs);
    this.#searches = this.#searches.filter((at) => at > now - 1_000);
    if (this.#today >= this.daily) return "DAILY";
    if (this.#calls.length >= this.max) return "TEN_SECONDLY_ROLLING";
    if (isSearch && this.#searches.length >= this.#searchPerSecond) return "SECONDLY";
    this.#calls.push(now);
    if (isSearch) this.#searches.push(now);
    this.#today += 1;
    return null;
  }

  /** As at midnight. */
  newDay(): void {
    this.#today = 0;
  }

  headers(): Record<string, string> {
    return {
      "x-hubspot-ratelimit-max": String(this.max),
      "x-hubspot-ratelimit-remaining": String(Math.max(0, this.max - this.#calls.length)),
      "x-hubspot-ratelimit-interval-milliseconds": String(this.intervalMs),
      "x-hubspot-ratelimit-daily": String(this.daily),
      "x-hubspot-ratelimit-daily-remaining": String(Math.max(0, this.daily - this.#today)),
    };
  }
}
