/** When the other side answered last: for people, and for those who ask whether this process is well. */
import { StoreUnavailableError } from "../core/errors.ts";
import type { Runtime } from "./runtime.ts";

export class LastAnswer {
  readonly #runtime: Runtime;
  #lastAt: number | null = null;
  #lastMonotonic = -Infinity;
  #isAway = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** `at`: by the steady clock, if it is a while ago. */
  answered(at = this.#runtime.monotonic()): void {
    if (at < this.#lastMonotonic) return;
    this.#lastAt = this.#runtime.wallClock() - (this.#runtime.monotonic() - at);
    this.#lastMonotonic = at;
    this.#isAway = false;
  }

  /** An error that the other side thought of is an answer too. */
  failed(error: unknown): void {
    if (error instanceof StoreUnavailableError) this.#isAway = true;
    else this.answered();
  }

  /** By this host's clock. Null: never. */
  get lastAt(): Date | null {
    return this.#lastAt === null ? null : new Date(this.#lastAt);
  }

  /** Infinite if it never answered. */
  get ageMs(): number {
    return this.#runtime.monotonic() - this.#lastMonotonic;
  }

  /** The last call got no answer. */
  get isAway(): boolean {
    return this.#isAway;
  }
}
