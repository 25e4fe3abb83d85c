/** What the page saw, second by second, for fifteen minutes: small charts draw it. */
import type { Overview } from "../api/types.ts";

const MOST = 900;

export interface Sample {
  readonly at: number;
  readonly oldestMs: number;
  readonly ready: number;
  readonly processing: number;
  readonly dead: number;
}

export class Samples {
  #all: Sample[] = [];
  #queues = new Map<string, number[]>();

  get all(): readonly Sample[] {
    return this.#all;
  }

  /** How many jobs of a queue were ready. */
  ofQueue(queue: string): readonly number[] {
    return this.#queues.get(queue) ?? [];
  }

  add(overview: Overview, now: number): void {
    const { oldestReadyAt, ready, processing, dead } = overview.totals;
    const oldestMs = oldestReadyAt === null ? 0 : Math.max(0, now - Date.parse(oldestReadyAt));
    this.#all = [...this.#all, { at: now, oldestMs, ready, processing, dead }].slice(-MOST);
    const next = new Map<string, number[]>();
    for (const { queue, ready: waiting } of overview.queues) {
      next.set(queue, [...(this.#queues.get(queue) ?? []), waiting].slice(-120));
    }
    this.#queues = next;
  }
}
