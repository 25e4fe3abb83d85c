/**
 * Runs what is due, for `t.drain()`: one worker for every queue there is, until nothing runs and nothing is
 * left. A drain that gives up leaves its worker behind, because its handler still runs; the next drain waits
 * for that one, too.
 */
import { ALERTS_QUEUE } from "../core/alert.ts";
import { DrainTimeoutError } from "../core/errors.ts";
import type { Store } from "../core/store.ts";
import type { Worker } from "../engine/lease/worker.ts";
import type { Resilience } from "../holdfast-options.ts";
import type { Holdfast } from "../holdfast.ts";
import type { VirtualTime } from "./virtual-time.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- any instance, whatever its contracts
export type AnyHoldfast = Holdfast<any, Resilience | undefined>;

export interface DrainsOptions {
  readonly hf: AnyHoldfast;
  readonly store: Store;
  readonly time: VirtualTime;
  /** Of real time, without any progress. */
  readonly patienceMs: number;
}

/** So many turns in which nothing moved: what runs waits for time, or for the world outside. */
const STILL_TURNS = 5;
/** How often a wait looks, in its patience, whether something has moved. */
const LOOKS = 4;

export class Drains {
  readonly #options: DrainsOptions;
  readonly #workers = new Set<Worker>();
  #current: Promise<void> | null = null;
  #movedAt = 0;
  #stillTurns = 0;

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** Two at once are one. */
  drain(): Promise<void> {
    this.#current ??= this.#drain().finally(() => (this.#current = null));
    return this.#current;
  }

  /** Something was leased, stored or settled. */
  moved(): void {
    this.#movedAt = performance.now();
    this.#stillTurns = 0;
  }

  /** Resolves when a drain that is under way has done what it can for now; at once without one. */
  async standStill(): Promise<void> {
    this.#stillTurns = 0;
    while (this.#current !== null && this.#stillTurns < STILL_TURNS) {
      await new Promise(setImmediate);
    }
  }

  /** A wait for a job that nothing runs would never end: in virtual time only the test itself makes things happen. */
  async whileMoving<Out>(id: string, waiting: Promise<Out>): Promise<Out> {
    this.moved();
    const { patienceMs } = this.#options;
    let look: NodeJS.Timeout | undefined;
    const still = new Promise<never>((_resolve, reject) => {
      look = setInterval(() => {
        if (performance.now() - this.#movedAt > patienceMs) reject(this.#nothingRuns(id));
      }, patienceMs / LOOKS);
    });
    try {
      return await Promise.race([waiting, still]);
    } finally {
      clearInterval(look);
    }
  }

  async #drain(): Promise<void> {
    const { hf, store } = this.#options;
    this.moved();
    await hf.info();
    for (let known = -1; ;) {
      const found = (await store.count()).map(({ queue }) => queue);
      // Or the Holdfast would start a worker of its own for them.
      const own = hf.alerts.delivers && found.length > 0 ? [ALERTS_QUEUE] : [];
      const queues = [...new Set([...found, ...own])];
      if (queues.length === known || queues.length + this.#workers.size === 0) return;
      known = queues.length;
      if (queues.length > 0) this.#workers.add(await hf.work({ queues }));
      await this.#untilIdle();
      const workers = [...this.#workers];
      this.#workers.clear();
      await Promise.all(workers.map((worker) => worker.stop({ graceMs: 0 })));
      // What it raises is delivered by jobs.
      if ((await hf.alerts.look()) > 0) known = -1;
    }
  }

  async #untilIdle(): Promise<void> {
    const { time, patienceMs } = this.#options;
    // Twice idle in a row: a wakeup may have been on its way the first time.
    for (let idleTurns = 0; idleTurns < 2; idleTurns = this.#isIdle ? idleTurns + 1 : 0) {
      await time.settle();
      this.#stillTurns += 1;
      if (!this.#isIdle && performance.now() - this.#movedAt > patienceMs) throw this.#givesUp();
    }
  }

  /** Also of the workers that the test itself has started. */
  get #isIdle(): boolean {
    const { workers } = this.#options.hf.health();
    const ofTest = workers.filter(({ id }) => ![...this.#workers].some((own) => own.id === id));
    return (
      [...this.#workers].every((worker) => worker.isIdle) &&
      ofTest.every(({ running }) => running === 0)
    );
  }

  #nothingRuns(id: string): DrainTimeoutError {
    const { patienceMs } = this.#options;
    return new DrainTimeoutError(
      `nothing has moved for ${patienceMs} ms of real time, and waitFor waits for job ${id}. Nothing runs in a test before t.drain(): ` +
        "call await t.drain() before waitFor, t.advance() before that if the job is not due yet, or raise patienceMs",
    );
  }

  #givesUp(): DrainTimeoutError {
    const { patienceMs } = this.#options;
    const running = [...this.#workers].flatMap((worker) => worker.running);
    const jobs = running.map(({ type, id }) => `${type} (${id})`).join(", ");
    return new DrainTimeoutError(
      `nothing has moved for ${patienceMs} ms of real time. The drain waits for ${jobs || "a worker of the test itself"}: ` +
        "await everything that its handler starts, call t.advance() while it drains if the handler waits for a timeout, or raise patienceMs",
    );
  }
}
