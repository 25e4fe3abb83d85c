/**
 * The clock of a store while a past is put into it: some hours behind, then it goes on to now while upkeep is
 * done, as it was in a fleet whose jobs finished long ago. For stores that count by and by, as time passes.
 */
import type { Store } from "../packages/holdfast/src/index.ts";

const BEHIND_MS = 3 * 3_600_000;
const UPKEEP_EVERY_MS = 10 * 60_000;

export class PastClock {
  #behindMs = BEHIND_MS;

  readonly now = (): number => Date.now() - this.#behindMs;

  async catchUp(store: Store): Promise<void> {
    while (this.#behindMs > 0) {
      this.#behindMs -= UPKEEP_EVERY_MS;
      await store.reap({ limit: 1 });
    }
  }
}
