/**
 * Leased jobs that wait in this worker for a free slot. One that has not started within a second is handed
 * back: long jobs hold the slots, and another worker may be free.
 */
import type { Attempt } from "../run/attempt.ts";
import type { Runtime, Timer } from "../runtime.ts";

/** A job waits no longer than this; then another worker may have it. */
const LONGEST_WAIT_MS = 1_000;

export interface BufferOptions {
  readonly runtime: Runtime;
  readonly handBack: (attempt: Attempt, why: string) => void;
}

export class Buffer {
  readonly #options: BufferOptions;
  readonly #waiting: Attempt[] = [];
  #bytes = 0;
  #timer: Timer | null = null;

  constructor(options: BufferOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Of payloads, more or less. */
  get bytes(): number {
    return this.#bytes;
  }

  add(attempt: Attempt): void {
    this.#waiting.push(attempt);
    this.#bytes += attempt.job.payload.length;
    attempt.whenAborted(() => this.#handBack(attempt, "its lease ran out before it started"));
    this.#timer ??= this.#handBackLater();
  }

  next(): Attempt | undefined {
    const attempt = this.#waiting.shift();
    if (attempt) this.#bytes -= attempt.job.payload.length;
    return attempt;
  }

  handBackAll(why: string): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const attempt of [...this.#waiting]) this.#handBack(attempt, why);
  }

  /** What waited for a whole second has waited for long jobs. */
  #handBackLater(): Timer {
    const waiting = new Set(this.#waiting);
    return this.#options.runtime.timer(LONGEST_WAIT_MS, () => {
      this.#timer = null;
      for (const attempt of this.#waiting.filter((one) => waiting.has(one))) {
        this.#handBack(attempt, "it waited too long for a free slot");
      }
      if (this.#waiting.length > 0) this.#timer = this.#handBackLater();
    });
  }

  #handBack(attempt: Attempt, why: string): void {
    const at = this.#waiting.indexOf(attempt);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    this.#bytes -= attempt.job.payload.length;
    this.#options.handBack(attempt, why);
  }
}
