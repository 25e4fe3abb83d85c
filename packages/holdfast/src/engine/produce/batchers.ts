/**
 * A batcher for each part of the store that can be out of reach alone. Where jobs lie on several servers, one of them
 * may hang for hours: what belongs to the others must not be in one call with what belongs to it, nor wait behind it.
 * There each queue is a part; such a store makes a call for each queue anyway.
 */
import { Batcher, type BatcherOptions, type Done } from "./batcher.ts";

export interface BatchersOptions<In, Out> extends BatcherOptions<In, Out> {
  /** Asked each time: a store may know only once it is open. */
  readonly hasSeveralServers: () => boolean;
  readonly queueOf: (item: In) => string;
}

export class Batchers<In, Out> {
  readonly #options: BatchersOptions<In, Out>;
  /** Where everything lies on one server. */
  readonly #whole: Batcher<In, Out>;
  /** Of queues that something waits for. */
  readonly #parts = new Map<string, Batcher<In, Out>>();

  constructor(options: BatchersOptions<In, Out>) {
    this.#options = options;
    this.#whole = new Batcher(options);
  }

  push(item: In, done: Done<Out>): void {
    const { hasSeveralServers, queueOf } = this.#options;
    if (hasSeveralServers()) this.#pushTo(queueOf(item), item, done);
    else this.#whole.push(item, done);
  }

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.push(item, (error, out) => (error === null ? resolve(out as Out) : reject(error)));
    });
  }

  /** Items waiting; those on their way not counted. */
  get size(): number {
    let size = this.#whole.size;
    for (const part of this.#parts.values()) size += part.size;
    return size;
  }

  get isIdle(): boolean {
    return this.#whole.isIdle && [...this.#parts.values()].every(({ isIdle }) => isIdle);
  }

  /** Resolves once nothing is waiting or on its way. */
  async idle(): Promise<void> {
    while (!this.isIdle) {
      await this.#whole.idle();
      await Promise.all([...this.#parts.values()].map((part) => part.idle()));
    }
  }

  #pushTo(name: string, item: In, done: Done<Out>): void {
    const known = this.#parts.get(name);
    if (known) return known.push(item, done);
    const part = new Batcher(this.#options);
    this.#parts.set(name, part);
    part.push(item, done);
    void this.#forget(name, part);
  }

  /** Once it has nothing more to do: there may be thousands of queues. */
  async #forget(name: string, part: Batcher<In, Out>): Promise<void> {
    while (!part.isIdle) await part.idle();
    this.#parts.delete(name);
  }
}
