/**
 * Wakeups of a store on a server: to whoever listens in this process, and by a message of the server to
 * the others. They are hints: losing one costs latency only.
 *
 * What is to be said to others is sent at once, then gathered for a moment, so that a busy process speaks
 * at most a hundred times a second. Our own listeners come first: while a worker in this process asks,
 * it does not share the server with the hint to others.
 */
import type { Wakeup } from "../../core/store.ts";

/** Hints to other processes are sent at once, then gathered for so long. */
const GATHER_MS = 10;
/** A head start for the listeners in this process, if there are any. */
const OWN_FIRST_MS = 4;
/**
 * Finished jobs named at a time, and by all processes together within a stretch. Busy workers finish thousands a
 * second, and hardly anybody waits for one of them: who does finds it by asking. Eight busy processes that each name a
 * few send hundreds of messages a second, and each of them is heard eight times.
 */
const MOST_FINISHED = 50;
const MOST_IN_STRETCH = 500;
const STRETCH_MS = 100;

/** Tells all processes that listen; may fail. */
export type Tell = (wakeup: Wakeup) => Promise<void>;

export class Wakeups {
  readonly #listeners = new Set<(wakeup: Wakeup) => void>();
  readonly #near = new Hints();
  readonly #far = new Hints();
  #tell: Tell | null = null;
  #isOnItsWay = false;
  #gathering: NodeJS.Timeout | null = null;
  /** Finished jobs that were named in this stretch, here or elsewhere. */
  #named = 0;
  #stretchEndsAt = 0;

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /** The same function may listen twice: each has its own way to stop. */
  listen(listener: (wakeup: Wakeup) => void): () => void {
    const own = (wakeup: Wakeup): void => listener(wakeup);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  open(tell: Tell): void {
    this.#tell = tell;
  }

  /** Sends what is on its way to other processes and forgets the rest. */
  async close(): Promise<void> {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    await this.#sendFar();
    this.#tell = null;
    this.#listeners.clear();
    this.#near.take();
  }

  /**
   * Work of this process is on its way, on a connection that keeps the order. A worker that is idle here
   * asks at once, and its question arrives behind the work: one way there and back less before it starts.
   */
  expected(queues: readonly string[]): void {
    if (this.#listeners.size === 0 || queues.length === 0) return;
    this.#near.add(queues, []);
    this.#deliverSoon();
  }

  /**
   * After something was done by this process. `added`: so many jobs became ready at most. `expected`:
   * of these queues our own listeners were told when the work was sent, and have asked behind it. To tell them
   * again would make them ask again for nothing, and the next job would wait for that answer.
   */
  done(
    queues: Iterable<string>,
    finished: readonly string[],
    added?: number,
    expected?: ReadonlySet<string>,
  ): void {
    const woken = [...queues];
    const untold = expected === undefined ? woken : woken.filter((queue) => !expected.has(queue));
    this.#near.add(untold, finished);
    this.#far.add(woken, finished, added);
    this.#deliverSoon();
    if (this.#far.isEmpty) return;
    if (this.#gathering !== null || this.#tell === null) return;
    const sendFar = (): void => void this.#sendFar();
    if (this.#listeners.size === 0) setImmediate(sendFar);
    else setTimeout(sendFar, OWN_FIRST_MS);
    this.#gather();
  }

  /** Until nothing came for so long. */
  #gather(): void {
    this.#gathering = setTimeout(() => {
      this.#gathering = null;
      if (this.#far.isEmpty) return;
      void this.#sendFar();
      this.#gather();
    }, GATHER_MS);
  }

  /** From another process, or because nobody has listened for a while. */
  arrived(wakeup: Wakeup): void {
    this.#named = this.#namedLately() + wakeup.finished.length;
    for (const listener of [...this.#listeners]) listener(wakeup);
  }

  async #sendFar(): Promise<void> {
    const hints = this.#far.take();
    if (hints === null || this.#tell === null) return;
    const finished = this.#mayName(hints.finished.length) ? hints.finished : [];
    const wakeup = { ...hints, finished, ...(hints.added !== undefined && { lot: Math.random() }) };
    if (wakeup.queues.length + wakeup.finished.length === 0) return;
    // If it fails, the others find it by polling.
    await this.#tell(wakeup).catch(() => {});
  }

  #mayName(count: number): boolean {
    const named = this.#namedLately() + count;
    if (count > MOST_FINISHED || named > MOST_IN_STRETCH) return false;
    this.#named = named;
    return true;
  }

  #namedLately(): number {
    const now = performance.now();
    if (now < this.#stretchEndsAt) return this.#named;
    this.#stretchEndsAt = now + STRETCH_MS;
    return (this.#named = 0);
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
  /** So many jobs became ready at most; NaN: any number. */
  #added = 0;

  get isEmpty(): boolean {
    return this.#queues.size === 0 && this.#finished.length === 0;
  }

  add(queues: readonly string[], finished: readonly string[], added = NaN): void {
    for (const queue of queues) this.#queues.add(queue);
    for (const id of finished) this.#finished.push(id);
    if (queues.length > 0) this.#added += added;
  }

  take(): Wakeup | null {
    if (this.isEmpty) return null;
    const added = this.#added;
    const wakeup = {
      queues: [...this.#queues],
      finished: this.#finished,
      ...(added > 0 && { added }),
    };
    this.#queues.clear();
    this.#finished = [];
    this.#added = 0;
    return wakeup;
  }
}
