/** Strikes: finds the victim, waits for the worst moment where one is asked for, and sends the signal. */
import { setTimeout as pause } from "node:timers/promises";
import type { Fleet, Member } from "./fleet.ts";
import type { StoreWatch } from "./store-watch.ts";
import { spare, type Strike, type StrikeKind } from "./strikes.ts";
import { lastWitness, monotonicMs } from "./witness.ts";

/** How long to lie in wait for a process that has asked and not been answered. */
const AMBUSH_MS = 1_000;

export interface StrikerOptions {
  readonly fleet: Fleet;
  readonly watch: StoreWatch;
  /** Where the witnesses are. */
  readonly folder: string;
  readonly leaseMs: number;
  /** A producer is waited for: give it something to ask. */
  readonly bait: () => void;
}

export class Striker {
  readonly #options: StrikerOptions;
  readonly #continuing: Promise<void>[] = [];
  /** The worker that is left alone for now. */
  #spared: string | null = null;
  readonly done: Record<StrikeKind, number> = {
    ...{ kill: 0, stop: 0, terminate: 0, "kill producer": 0 },
  };

  constructor(options: StrikerOptions) {
    this.#options = options;
  }

  /** Resolves when everybody who was stopped goes on. */
  async allContinued(): Promise<void> {
    await Promise.all(this.#continuing);
  }

  /** False: nobody may be struck now. */
  async strike(strike: Strike): Promise<boolean> {
    const { fleet } = this.#options;
    const { kind, pick, isAmbush, lengthMs } = strike;
    const victim = kind === "kill producer" ? this.#producer(pick) : this.#worker(strike);
    if (victim) {
      if (isAmbush) await this.#lieInWaitFor(victim);
      if (victim.state !== "running") return false;
      switch (kind) {
        case "kill":
        case "kill producer":
          fleet.kill(victim.name);
          break;
        case "terminate":
          fleet.terminate(victim.name);
          break;
        case "stop":
          fleet.stop(victim.name);
          this.#continuing.push(pause(lengthMs).then(() => fleet.continue(victim.name)));
          break;
      }
    } else if (kind !== "kill producer") {
      // Producers that are through need no killing; workers are there again soon.
      return false;
    }
    this.done[kind] += 1;
    return true;
  }

  #producer(pick: number): Member | undefined {
    const producers = this.#options.fleet.running("producer");
    return producers[Math.floor(pick * producers.length)];
  }

  #worker({ kind, pick, sparePick }: Strike): Member | undefined {
    const { fleet, watch, leaseMs } = this.#options;
    const now = monotonicMs();
    const { writableSince } = watch;
    const workers = fleet.running("worker").map((worker) => ({
      worker,
      name: worker.name,
      healthySince: Math.max(worker.healthySince, writableSince),
    }));
    this.#spared = spare(workers, { before: this.#spared, pick: sparePick, now, leaseMs });
    // A kill may hit a worker in its first moment; a stop is for one that surely has jobs.
    const leastMs = kind === "stop" ? leaseMs / 2 : 0;
    const open = workers.filter(
      ({ name, worker }) => name !== this.#spared && now - worker.healthySince >= leastMs,
    );
    return open[Math.floor(pick * open.length)]?.worker;
  }

  /** Until it has asked the store and not been answered: there the outcome is unknown. */
  async #lieInWaitFor({ file, role }: Member): Promise<void> {
    const { folder, bait } = this.#options;
    if (role === "producer") bait();
    const until = monotonicMs() + AMBUSH_MS;
    const isAsking = () => {
      const what = lastWitness(folder, file)?.what;
      return what === "try" || what === "settling";
    };
    while (!isAsking() && monotonicMs() < until) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
