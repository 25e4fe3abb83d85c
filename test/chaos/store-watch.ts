/** Tries to write all the time, and writes down the times in which nobody could. */
import { setTimeout as pause } from "node:timers/promises";
import type { StartedStore } from "./chaos-store.ts";
import { monotonicMs, type Witness } from "./witness.ts";

const EVERY_MS = 100;
/** Shorter pauses are ordinary: a checkpoint, a busy disk. A stop is longer than any lease. */
const UNWRITABLE_MS = 1_000;

export class StoreWatch {
  readonly #started: StartedStore;
  readonly #witness: Witness;
  #isStopped = false;
  #writtenAt = 0;
  #writableSince = Infinity;

  constructor(options: { readonly started: StartedStore; readonly witness: Witness }) {
    this.#started = options.started;
    this.#witness = options.witness;
  }

  /** Since when writing has worked without a break; Infinity while it does not. */
  get writableSince(): number {
    const isBroken = monotonicMs() - this.#writtenAt > UNWRITABLE_MS;
    return isBroken ? Infinity : this.#writableSince;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    this.#writtenAt = this.#writableSince = monotonicMs();
    while (!this.#isStopped) {
      if (await this.#started.canWrite()) this.#written();
      await pause(EVERY_MS);
    }
  }

  #written(): void {
    const now = monotonicMs();
    if (now - this.#writtenAt > UNWRITABLE_MS) {
      this.#witness.saw({ what: "unwritable", from: this.#writtenAt }, now);
      this.#writableSince = now;
    }
    this.#writtenAt = now;
  }
}
