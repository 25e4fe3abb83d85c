/** What a run has been through, for its summary. */
import type { Fate } from "./network.ts";

export class Tally {
  readonly #counts = new Map<string, number>();

  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  callFailed(why: Fate | "away"): void {
    this.count(why === "away" ? "calls while the store was away" : `calls: ${why}`);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** By name, so that two runs can be laid side by side. */
  entries(): [what: string, count: number][] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
