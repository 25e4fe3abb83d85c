/** What the page saw, second by second, for fifteen minutes: small charts draw it. */
import type { Overview } from "../api/types.ts";

const KEPT_MS = 15 * 60_000;
const QUEUE_KEPT_MS = 2 * 60_000;
/** A line through a longer gap would tell of a time that nobody saw: what was before it goes. */
const GAP_MS = 15_000;

export interface Sample {
  readonly at: number;
  readonly oldestMs: number;
  readonly processing: number;
}

interface QueueSample {
  readonly at: number;
  readonly ready: number;
}

export class Samples {
  #all: readonly Sample[] = [];
  #queues = new Map<string, readonly QueueSample[]>();

  get all(): readonly Sample[] {
    return this.#all;
  }

  /** How many jobs of a queue were ready. */
  ofQueue(queue: string): readonly number[] {
    return (this.#queues.get(queue) ?? []).map(({ ready }) => ready);
  }

  add(overview: Overview, now: number): void {
    const last = this.#all.at(-1)?.at ?? now;
    if (Math.abs(now - last) > GAP_MS) this.forget();
    const { oldestReadyAt, processing } = overview.totals;
    const oldestMs = oldestReadyAt === null ? 0 : Math.max(0, now - Date.parse(oldestReadyAt));
    this.#all = [...since(this.#all, now - KEPT_MS), { at: now, oldestMs, processing }];
    const next = new Map<string, readonly QueueSample[]>();
    for (const { queue, ready } of overview.queues) {
      const before = since(this.#queues.get(queue) ?? [], now - QUEUE_KEPT_MS);
      next.set(queue, [...before, { at: now, ready }]);
    }
    this.#queues = next;
  }

  forget(): void {
    this.#all = [];
    this.#queues.clear();
  }
}

function since<One extends { readonly at: number }>(all: readonly One[], from: number) {
  return all.filter(({ at }) => at > from);
}
