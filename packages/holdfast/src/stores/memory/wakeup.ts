/**
 * Hints to whoever listens in this process. They gather while a verb (or several, called in one go)
 * runs, and are delivered once, after it: a listener that calls the store again must not find itself
 * inside a verb.
 */
import type { Wakeup } from "../../core/store.ts";

export class Wakeups {
  readonly #listeners = new Set<(wakeup: Wakeup) => void>();
  readonly #queues = new Set<string>();
  readonly #finished = new Set<string>();
  #isOnItsWay = false;

  /** The same function may listen twice: each has its own way to stop. */
  listen(listener: (wakeup: Wakeup) => void): () => void {
    const own = (wakeup: Wakeup): void => listener(wakeup);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** There may be ready jobs in this queue. */
  queue(name: string): void {
    this.#queues.add(name);
    this.#deliverSoon();
  }

  finished(jobId: string): void {
    this.#finished.add(jobId);
    this.#deliverSoon();
  }

  /** Forgets the listeners, and what was on its way to them. */
  clear(): void {
    this.#listeners.clear();
    this.#queues.clear();
    this.#finished.clear();
  }

  #deliverSoon(): void {
    if (this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    this.#isOnItsWay = false;
    const wakeup: Wakeup = { queues: [...this.#queues], finished: [...this.#finished] };
    this.#queues.clear();
    this.#finished.clear();
    if (wakeup.queues.length === 0 && wakeup.finished.length === 0) return;
    for (const listener of this.#listeners) listener(wakeup);
  }
}
