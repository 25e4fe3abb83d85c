/**
 * Which processes have just been frozen. One that was frozen between a grant and the start is late, and no rule can
 * help it; and its timers speak in any order.
 */
import type { Court, Watcher } from "../watcher.ts";

const WAKING_MS = 1_000;

export class Waking {
  readonly #now: () => number;
  readonly #thawedAt = new Map<string, number>();

  constructor({ now }: Court) {
    this.#now = now;
  }

  get watcher(): Watcher {
    return {
      froze: (process) => void this.#thawedAt.set(process, Infinity),
      thawed: (process) => void this.#thawedAt.set(process, this.#now()),
    };
  }

  isWaking(process: string): boolean {
    return this.#now() - (this.#thawedAt.get(process) ?? -Infinity) < WAKING_MS;
  }
}
