/**
 * Natural batching: while one call is on its way to the store, the next requests gather; they leave
 * together when it is back. Nothing waits for a timer, and nothing is answered before its own call
 * was. An idle batcher sends the first request after one `defer`, so that callers of the same turn
 * share a commit.
 *
 * Where two calls may be on their way at once (`atOnce`), a large batch leaves in two halves: while the
 * store works on one, the callers of the other go on. They would else all wait for each other, and the
 * store for all of them.
 *
 * A call that fails with more than one item in it is repeated item by item when `isolate` says that
 * one of them may be the cause: one bad item never spoils its neighbours.
 */
export interface BatcherOptions<In, Out> {
  /** `isRepeated`: a call with these items has failed before. */
  readonly run: (items: readonly In[], isRepeated: boolean) => Promise<readonly Out[]>;
  readonly defer: (callback: () => void) => void;
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly bytesOf: (item: In) => number;
  readonly isolate: (error: unknown) => boolean;
  /** Calls that may be on their way at once; they must be answered in their order. 1 by default. */
  readonly atOnce?: number | undefined;
}

/** A half of fewer items would save less than its call costs. */
const SMALLEST_HALF = 25;

export type Done<Out> = (error: unknown, out: Out | undefined) => void;

interface Request<In, Out> {
  readonly item: In;
  readonly done: Done<Out>;
}

export class Batcher<In, Out> {
  readonly #options: BatcherOptions<In, Out>;
  #waiting: Request<In, Out>[] = [];
  /** Calls on their way, each with those that follow it. */
  #lanes = 0;
  #isDeferred = false;
  #idleListeners: (() => void)[] = [];

  constructor(options: BatcherOptions<In, Out>) {
    this.#options = options;
  }

  /** The cheap way in: no promise per item. */
  push(item: In, done: Done<Out>): void {
    this.#waiting.push({ item, done });
    if (this.#isDeferred || this.#lanes >= this.#atOnce) return;
    this.#isDeferred = true;
    this.#options.defer(() => {
      this.#isDeferred = false;
      void this.#drain();
    });
  }

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.push(item, (error, out) => (error === null ? resolve(out as Out) : reject(error)));
    });
  }

  /** Items waiting; those on their way not counted. */
  get size(): number {
    return this.#waiting.length;
  }

  get isIdle(): boolean {
    return this.#lanes === 0 && !this.#isDeferred;
  }

  /** Resolves once nothing is waiting or on its way. */
  async idle(): Promise<void> {
    if (this.isIdle) return;
    await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  get #atOnce(): number {
    return this.#options.atOnce ?? 1;
  }

  async #drain(): Promise<void> {
    this.#lanes += 1;
    while (this.#waiting.length > 0) {
      const canSplit = this.#lanes < this.#atOnce && this.#waiting.length >= 2 * SMALLEST_HALF;
      const sending = this.#send(
        this.#next(canSplit ? Math.ceil(this.#waiting.length / 2) : Infinity),
      );
      if (canSplit) void this.#drain();
      await sending;
    }
    this.#lanes -= 1;
    if (!this.isIdle) return;
    for (const listener of this.#idleListeners.splice(0)) listener();
  }

  #next(most: number): Request<In, Out>[] {
    const { maxItems, maxBytes, bytesOf } = this.#options;
    const atMost = Math.min(most, maxItems);
    let count = 0;
    let bytes = 0;
    for (const { item } of this.#waiting) {
      bytes += bytesOf(item);
      if (count === atMost || (count > 0 && bytes > maxBytes)) break;
      count += 1;
    }
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  async #send(requests: readonly Request<In, Out>[], isRepeated = false): Promise<void> {
    try {
      const items = requests.map(({ item }) => item);
      const outs = await this.#options.run(items, isRepeated);
      for (let at = 0; at < requests.length; at += 1) requests[at]!.done(null, outs[at]);
    } catch (error) {
      if (requests.length > 1 && this.#options.isolate(error)) {
        for (const request of requests) await this.#send([request], true);
      } else {
        for (const { done } of requests)
          done(error ?? new Error("the store threw nothing"), undefined);
      }
    }
  }
}
