/**
 * Asks every worker whether it takes jobs: one job into the queue of each. So it does not depend on
 * the luck of the draw who is seen to work after the store is back.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Holdfast, StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";
import { ownQueue, probe, QUEUE, quick, within } from "./contracts.ts";
import { monotonicMs, type Witness } from "./witness.ts";

const TRY_AGAIN_MS = 50;
const LOOK_EVERY_MS = 100;
const PROBE_MS = 5;
const COMMITS = 6;
const AT_ONCE = 5;
const LOAD_EVERY_MS = 30;

export interface ProberOptions {
  readonly store: Store;
  readonly witness: Witness;
  /** How many workers there are. */
  readonly workers: number;
  /** Nobody waits longer than this for an answer. */
  readonly healMs: number;
}

interface Where {
  readonly queue: string;
  readonly until: number;
}

interface JobPlace {
  readonly id: string;
  readonly queue: string;
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
    const enqueued = await Promise.all(places.map((place) => this.#enqueue(place, until)));
    const refs = enqueued.flatMap((ref) => ref ?? []);
    while (monotonicMs() < until && (await this.#areWaiting(refs))) await pause(LOOK_EVERY_MS);
  }

  /** Null: the store did not take it in time, and so no worker can. */
  #enqueue(place: number, until: number): Promise<JobPlace | null> {
    return this.#put(probe, { queue: ownQueue(place), until });
  }

  /** Gives the workers jobs that settle in a transaction. */
  async askForCommits(): Promise<void> {
    const until = monotonicMs() + this.#options.healMs;
    const jobs = Array.from({ length: COMMITS }, () => this.#put(within, { queue: QUEUE, until }));
    await Promise.all(jobs);
  }

  /** Enqueues while something is done, so that it is done under load whatever the producers do. */
  async busyWhile<Answer>(work: Promise<Answer>): Promise<Answer> {
    let isOver = false;
    const done = work.finally(() => (isOver = true));
    // Heard at the end.
    done.catch(() => {});
    const until = monotonicMs() + this.#options.healMs;
    while (!isOver) {
      const puts = Array.from({ length: AT_ONCE }, () => this.#put(quick, { queue: QUEUE, until }));
      await Promise.all([...puts, pause(LOAD_EVERY_MS)]);
    }
    return done;
  }

  async #put(contract: typeof probe, { queue, until }: Where): Promise<JobPlace | null> {
    const { witness } = this.#options;
    const key = `probe-${(this.#probes += 1)}`;
    for (;;) {
      witness.saw({ what: "try", key });
      try {
        const how = { queue, idempotencyKey: key };
        const { id, status } = await this.#hf.enqueue(contract, { key, ms: PROBE_MS }, how);
        witness.saw({ what: "acknowledged", key, id, answer: status });
        return { id, queue };
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        const { mayHaveHappened } = error;
        witness.saw({ what: "refused", key, error: String(error), mayHaveHappened });
        if (monotonicMs() > until) return null;
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  async #areWaiting(refs: readonly JobPlace[]): Promise<boolean> {
    try {
      const jobs = await this.#options.store.get(refs);
      return jobs.some((job) => job !== null && job !== "pruned" && job.status === "queued");
    } catch (error) {
      if (error instanceof StoreUnavailableError) return true;
      throw error;
    }
  }
}
