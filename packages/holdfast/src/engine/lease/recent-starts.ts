/**
 * How many jobs a worker's slots have taken on lately: the size of a buffer that will start soon. It
 * looks at ends, not at durations: while long jobs hold the slots nothing ends, and nothing should be
 * buffered, however quick the jobs before them were.
 */
import type { Runtime } from "../runtime.ts";

const WINDOW_MS = 100;

export class RecentStarts {
  readonly #runtime: Runtime;
  #windowEndsAt = -Infinity;
  #inWindow = 0;
  #inLastWindow = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** A slot became free. */
  count(): void {
    this.#turn();
    this.#inWindow += 1;
  }

  /** In the last tenth of a second or so. */
  lately(): number {
    this.#turn();
    return Math.max(this.#inWindow, this.#inLastWindow);
  }

  #turn(): void {
    const now = this.#runtime.monotonic();
    if (now < this.#windowEndsAt) return;
    const isNext = now < this.#windowEndsAt + WINDOW_MS;
    this.#inLastWindow = isNext ? this.#inWindow : 0;
    this.#inWindow = 0;
    this.#windowEndsAt = now + WINDOW_MS;
  }
}
