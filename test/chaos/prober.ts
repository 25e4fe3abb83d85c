/**
 * Asks every worker whether it takes jobs: one job into the queue of each. So it does not depend on
 * the luck of the draw who is seen to work after the store is back.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Holdfast, StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";
import { ownQueue, probe } from "./contracts.ts";
import { monotonicMs, type Witness } from "./witness.ts";

const TRY_AGAIN_MS = 50;
const LOOK_EVERY_MS = 100;
const PROBE_MS = 5;

export interface ProberOptions {
  readonly store: Store;
  readonly witness: Witness;
  /** How many workers there are. */
  readonly workers: number;
  /** Nobody waits longer than this for an answer. */
  readonly healMs: number;
}

export class Prober {
  readonly #options: ProberOptions;
  readonly #hf: Holdfast;
  #probes = 0;

  constructor(options: ProberOptions) {
    this.#options = options;
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    this.#hf = new Holdfast({ store: options.store, logger: silent });
  }

  /** Resolves when everybody has taken its job, or could have. */
  async probe(): Promise<void> {
    const { workers, healMs } = this.#options;
    const until = monotonicMs() + healMs;
    const places = Array.from({ length: workers }, (_, place) => place);
    const refs = await Promise.all(places.map((place) => this.#enqueue(place)));
    while (monotonicMs() < until && (await this.#areWaiting(refs))) await pause(LOOK_EVERY_MS);
  }

  async #enqueue(place: number): Promise<{ readonly id: string; readonly queue: string }> {
    const { witness } = this.#options;
    const key = `probe-${(this.#probes += 1)}`;
    const queue = ownQueue(place);
    for (;;) {
      witness.saw({ what: "try", key });
      try {
        const how = { queue, idempotencyKey: key };
        const { id, status } = await this.#hf.enqueue(probe, { key, ms: PROBE_MS }, how);
        witness.saw({ what: "acknowledged", key, id, answer: status });
        return { id, queue };
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        const { mayHaveHappened } = error;
        witness.saw({ what: "refused", key, error: String(error), mayHaveHappened });
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  async #areWaiting(refs: readonly { id: string; queue: string }[]): Promise<boolean> {
    try {
      const jobs = await this.#options.store.get(refs);
      return jobs.some((job) => job !== null && job !== "pruned" && job.status === "queued");
    } catch (error) {
      if (error instanceof StoreUnavailableError) return true;
      throw error;
    }
  }
}
