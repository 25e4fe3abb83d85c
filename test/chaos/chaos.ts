/**
 * The course of a run:
 *
 *     workers up ──▶ producers begin, strikes by the schedule, the dead replaced
 *                ──▶ all strikes done, everything healed, all producers through
 *                ──▶ drained, or out of patience ──▶ workers stopped gracefully
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../packages/holdfast/src/index.ts";
import type { ChaosOptions } from "./chaos-options.ts";
import type { StartedStore } from "./chaos-store.ts";
import type { Fleet, Role } from "./fleet.ts";
import { NetworkStriker } from "./network-striker.ts";
import type { Network } from "./network.ts";
import { Prober } from "./prober.ts";
import type { ProducerOptions } from "./producer.ts";
import { ServerStriker } from "./server-striker.ts";
import { waitingIn } from "./stored-jobs.ts";
import { StoreWatch } from "./store-watch.ts";
import { Striker } from "./striker.ts";
import { planStrikes, type Strike, type StrikeKind } from "./strikes.ts";
import { monotonicMs, type Witness } from "./witness.ts";
import type { WorkerOptions } from "./worker.ts";

const PRODUCERS = 2;
const LOOK_EVERY_MS = 100;
/** A worker that cannot even start would be replaced for ever. */
const MOST_PROCESSES_BEYOND_PLAN = 20;

/** Enqueued while a producer is waited for. */
const BAIT = 10;

export interface Progress {
  readonly elapsedMs: number;
  readonly enqueued: number;
  readonly finished: number;
  readonly workers: number;
  readonly done: Readonly<Record<StrikeKind, number>>;
}

export interface ChaosParts {
  readonly options: ChaosOptions;
  readonly folder: string;
  readonly started: StartedStore;
  readonly store: Store;
  readonly witness: Witness;
  readonly fleet: Fleet;
  readonly network: Network;
  readonly onProgress: (progress: Progress) => void;
}

export class Chaos {
  readonly #parts: ChaosParts;
  readonly #watch: StoreWatch;
  readonly #strikes: readonly Strike[];
  readonly #striker: Striker;
  readonly #startAt = monotonicMs();
  #struckAt = Infinity;
  /** Given to producers beyond their pace. */
  #extraJobs = 0;
  #isCounting = false;
  #counted = { enqueued: 0, finished: 0 };
  #begun = 0;
  #isEnding = false;
  /** What went wrong with the harness itself, outside the main line. */
  #trouble: Error | null = null;

  constructor(parts: ChaosParts) {
    this.#parts = parts;
    this.#watch = new StoreWatch(parts);
    this.#strikes = planStrikes(parts.options, parts.options);
    const { options, fleet, folder, network, started, store, witness } = parts;
    const { workers, healMs } = options;
    const prober = new Prober({ store, witness, workers, healMs });
    const { server } = started;
    const onTrouble = (error: Error) => void (this.#trouble ??= error);
    const shared = { network, witness, prober, onTrouble };
    this.#striker = new Striker({
      ...{ fleet, watch: this.#watch, folder, leaseMs: options.leaseMs, prober },
      network: new NetworkStriker({ ...shared, fleet, folder }),
      server: server ? new ServerStriker({ ...shared, server }) : null,
      bait: () => {
        this.#extraJobs += BAIT;
        this.#feedProducers();
      },
    });
  }

  async run(): Promise<void> {
    const { options, witness } = this.#parts;
    witness.saw({ what: "clock", wallMs: Date.now() });
    try {
      const places = Array.from({ length: options.workers }, (_, place) => place);
      await Promise.all(places.map((place) => this.#beginWorker(place)));
      const watching = this.#watch.run();
      const producing = Array.from({ length: PRODUCERS }, (_, at) => this.#keepProducing(at));
      await this.#strikeAll();
      await this.#allHealed();
      await this.#allProduced();
      await Promise.all(producing);
      await this.#drain();
      this.#isEnding = true;
      await this.#stopWorkers();
      this.#watch.stop();
      await watching;
    } finally {
      this.#isEnding = true;
      this.#watch.stop();
    }
  }

  async #beginWorker(place: number): Promise<void> {
    const { options, fleet } = this.#parts;
    const member = await fleet.begin("worker", async (name): Promise<WorkerOptions> => ({
      ...(await this.#childOptions(name, name)),
      ...{ place, concurrency: options.concurrency, graceMs: options.leaseMs / 2 },
    }));
    // However it ends, another takes its place, as a supervisor would see to it.
    void member.exited.then(() => {
      this.#closeRoutes(member.name);
      if (this.#isEnding) return;
      this.#countBegun("worker");
      this.#beginWorker(place).catch((error: Error) => (this.#trouble ??= error));
    });
  }

  async #keepProducing(from: number): Promise<void> {
    const { options, fleet } = this.#parts;
    for (;;) {
      const member = await fleet.begin("producer", async (name): Promise<ProducerOptions> => ({
        ...(await this.#childOptions(name, `producing-${from}`)),
        ...{ from, every: PRODUCERS, jobs: options.jobs },
      }));
      const { code } = await member.exited;
      this.#closeRoutes(member.name);
      if (code === 0 || this.#isEnding) return;
      this.#countBegun("producer");
    }
  }

  async #childOptions(name: string, file: string) {
    const { folder, started, options, network } = this.#parts;
    const { store, seed, leaseMs, unitMs, transactions } = options;
    const routes = await network.open(name);
    const jobs = { seed, leaseMs, unitMs, transactions };
    return { name, file, store, url: started.url, routes, folder, ...jobs };
  }

  #closeRoutes(name: string): void {
    this.#parts.network.close(name).catch((error: Error) => (this.#trouble ??= error));
  }

  #countBegun(role: Role): void {
    this.#begun += 1;
    if (this.#begun <= this.#strikes.length + MOST_PROCESSES_BEYOND_PLAN) return;
    this.#isEnding = true;
    this.#trouble ??= new Error(`too many ${role} processes ended by themselves`);
  }

  async #strikeAll(): Promise<void> {
    for (const strike of this.#strikes) {
      this.#struckAt = monotonicMs();
      const dueAt = this.#struckAt + strike.afterMs;
      await this.#until(() => monotonicMs() >= dueAt);
      await this.#until(() => this.#striker.strike(strike));
    }
  }

  async #allHealed(): Promise<void> {
    let isHealed = false;
    const healing = this.#striker.allHealed().then(() => (isHealed = true));
    await this.#until(() => isHealed);
    await healing;
  }

  /** A producer that the store refuses for ever is replaced by one that begins anew, as a supervisor would. */
  async #allProduced(): Promise<void> {
    const { options, fleet } = this.#parts;
    let until = monotonicMs() + 3 * options.leaseMs + 30_000;
    await this.#until(() => {
      if (monotonicMs() >= until) {
        for (const { name } of fleet.running("producer")) fleet.kill(name);
        until = Infinity;
      }
      return fleet.alive("producer").length === 0;
    });
  }

  /**
   * Everything that can end must end. A slow store on a busy machine may take long over it: what counts is
   * that jobs go on finishing, at least one in a time that is generous for the longest retry and crash.
   */
  async #drain(): Promise<void> {
    const { options, store } = this.#parts;
    const patienceMs = 6 * options.leaseMs + 30_000;
    let finished = -1;
    let until = monotonicMs() + patienceMs;
    await this.#until(async () => {
      const counts = await waitingIn(store);
      if (counts?.waiting === 0) return true;
      if (counts !== null && counts.finished > finished) {
        finished = counts.finished;
        until = monotonicMs() + patienceMs;
      }
      return monotonicMs() >= until;
    });
  }

  /** Those that do not go are killed when the run is cleaned up, and are found to be at fault. */
  async #stopWorkers(): Promise<void> {
    const { options, fleet } = this.#parts;
    const until = monotonicMs() + options.leaseMs + 30_000;
    await this.#until(() => {
      // Again and again: one that is still starting can be told only once it is up.
      for (const { name } of fleet.running("worker")) fleet.terminate(name);
      return fleet.alive("worker").length === 0 || monotonicMs() >= until;
    });
  }

  async #until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isTrue())) {
      if (this.#trouble !== null) throw this.#trouble;
      this.#lookAround();
      await pause(LOOK_EVERY_MS);
    }
  }

  #lookAround(): void {
    const { fleet, onProgress } = this.#parts;
    this.#feedProducers();
    if (!this.#isCounting) void this.#count();
    onProgress({
      elapsedMs: monotonicMs() - this.#startAt,
      ...this.#counted,
      workers: fleet.running("worker").length,
      done: this.#striker.done,
    });
  }

  /** Nobody waits for it: while the store is away it may take long. */
  async #count(): Promise<void> {
    this.#isCounting = true;
    try {
      const counts = await waitingIn(this.#parts.store);
      if (!counts) return;
      this.#counted = { enqueued: counts.waiting + counts.finished, finished: counts.finished };
    } catch (error) {
      this.#trouble ??= error as Error;
    } finally {
      this.#isCounting = false;
    }
  }

  /** Producers keep step with the strikes: there is always something left to enqueue. */
  #feedProducers(): void {
    const { options, fleet } = this.#parts;
    const struck = Object.values(this.#striker.done).reduce((sum, count) => sum + count, 0);
    const onTheWay = Math.min(1, Math.max(0, monotonicMs() - this.#struckAt) / options.spacingMs);
    const share = Math.min(1, (struck + onTheWay) / this.#strikes.length || 1);
    const allowed = String(Math.floor(share * options.jobs) + this.#extraJobs);
    for (const { name } of fleet.running("producer")) fleet.tell(name, allowed);
  }
}
