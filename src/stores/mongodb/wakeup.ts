/**
 * Wakeups: to whoever listens in this process, and through a small capped collection to the others.
 * They are hints: losing one costs latency only. What is to be said is sent at once, then gathered for
 * a moment, so that a busy process writes at most a hundred of them a second.
 */
import type { Wakeup } from "../../core/store.ts";

/** Hints to other processes are sent at once, then gathered for so long. */
const GATHER_MS = 10;
/** Names in one hint; the rest is left to the poll. */
const MOST_NAMES = 1_000;

/** Sends one hint to all processes that listen; may fail. */
export type Notify = (wakeup: Wakeup) => Promise<void>;

export class Wakeups {
  readonly #listeners = new Set<(wakeup: Wakeup) => void>();
  readonly #near = new Hints();
  readonly #far = new Hints();
  #notify: Notify | null = null;
  #isOnItsWay = false;
  #gathering: NodeJS.Timeout | null = null;

  /** The same function may listen twice: each has its own way to stop. */
  listen(listener: (wakeup: Wakeup) => void): () => void {
    const own = (wakeup: Wakeup): void => listener(wakeup);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  open(notify: Notify): void {
    this.#notify = notify;
  }

  /** Sends what is on its way to other processes and forgets the rest. */
  async close(): Promise<void> {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    await this.#sendFar();
    this.#notify = null;
    this.#listeners.clear();
    this.#near.take();
  }

  /** After something was done by this process. */
  done(queues: Iterable<string>, finished: readonly string[]): void {
    this.#near.add(queues, finished);
    this.#far.add(queues, finished);
    this.#deliverSoon();
    if (this.#gathering !== null || this.#notify === null) return;
    void this.#sendFar();
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      void this.#sendFar();
    }, GATHER_MS);
  }

  /** From another process, or because nobody has listened for a while. */
  arrived({ queues, finished }: Wakeup): void {
    this.#near.add(queues, finished);
    this.#deliverSoon();
  }

  async #sendFar(): Promise<void> {
    const wakeup = this.#far.take();
    if (wakeup === null || this.#notify === null) return;
    const queues = wakeup.queues.slice(0, MOST_NAMES);
    const finished = wakeup.finished.slice(0, MOST_NAMES);
    // If it fails, the others find it by polling.
    await this.#notify({ queues, finished }).catch(() => {});
  }

  /** Later than the verb that caused it: a listener that calls the store must not be inside a verb. */
  #deliverSoon(): void {
    if (this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    queueMicrotask(() => {
      this.#isOnItsWay = false;
      const wakeup = this.#near.take();
      if (wakeup === null) return;
      for (const listener of [...this.#listeners]) listener(wakeup);
    });
  }
}

class Hints {
  readonly #queues = new Set<string>();
  #finished: string[] = [];

  add(queues: Iterable<string>, finished: readonly string[]): void {
    for (const queue of queues) this.#queues.add(queue);
    for (const id of finished) this.#finished.push(id);
  }

  take(): Wakeup | null {
    if (this.#queues.size === 0 && this.#finished.length === 0) return null;
    const wakeup = { queues: [...this.#queues], finished: this.#finished };
    this.#queues.clear();
    this.#finished = [];
    return wakeup;
  }
}
