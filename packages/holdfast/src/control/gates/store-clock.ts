/**
 * The store's clock, without asking it each time: asked every two seconds, and in between this process's own
 * monotonic clock goes on from there. Never ahead of the store's, so that no token comes early.
 */
import type { Store } from "../../core/store.ts";
import type { Runtime } from "../../engine/runtime.ts";

const ASK_EVERY_MS = 2_000;

export class StoreClock {
  readonly #store: Pick<Store, "now">;
  readonly #runtime: Runtime;
  #heard: { readonly storeMs: number; readonly at: number } | null = null;
  #asking: Promise<void> | null = null;

  constructor(store: Pick<Store, "now">, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
  }

  async now(): Promise<number> {
    const { monotonic } = this.#runtime;
    if (this.#heard === null || monotonic() - this.#heard.at >= ASK_EVERY_MS) {
      this.#asking ??= this.#ask().finally(() => (this.#asking = null));
      await this.#asking;
    }
    return this.known!;
  }

  /** As far as is known without asking; null: it was never asked. */
  get known(): number | null {
    if (this.#heard === null) return null;
    const { storeMs, at } = this.#heard;
    return storeMs + Math.max(0, this.#runtime.monotonic() - at);
  }

  async #ask(): Promise<void> {
    const storeMs = await this.#store.now();
    // When the answer came, not when it was asked for: rather behind than ahead.
    this.#heard = { storeMs, at: this.#runtime.monotonic() };
  }
}
