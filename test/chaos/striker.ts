/** Strikes: finds the victim, waits for the worst moment where one is asked for, and does it. */
import { setTimeout as pause } from "node:timers/promises";
import { firstToCommit, lieInWait } from "./ambush.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { NetworkStriker } from "./network-striker.ts";
import type { Prober } from "./prober.ts";
import type { ServerStriker } from "./server-striker.ts";
import type { StoreWatch } from "./store-watch.ts";
import { spare, type ServerStrikeKind, type Strike, type StrikeKind } from "./strikes.ts";
import { monotonicMs } from "./witness.ts";

/** Of the processes that are cut off, so many are producers. */
const PRODUCERS_PART = 0.3;

export interface StrikerOptions {
  readonly fleet: Fleet;
  readonly watch: StoreWatch;
  readonly network: NetworkStriker;
  /** Null: the store is no server. */
  readonly server: ServerStriker | null;
  readonly prober: Prober;
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
    ...{ kill: 0, "kill after commit": 0, stop: 0, terminate: 0, "kill producer": 0 },
    ...{ "cut off": 0, "restart server": 0, "kill server": 0, outage: 0 },
    ...{ "fail over": 0, "move slots": 0 },
  };

  constructor(options: StrikerOptions) {
    this.#options = options;
  }

  /** Resolves when everybody who was stopped or cut off goes on, and the store is there. */
  async allHealed(): Promise<void> {
    const { network, server } = this.#options;
    await Promise.all([...this.#continuing, network.allHealed(), server?.allHealed()]);
  }

  /** False: nobody may be struck now. */
  async strike(strike: Strike): Promise<boolean> {
    if (this.#options.server?.isCalm) return false;
    const isDone = await this.#strike(strike);
    if (isDone) this.done[strike.kind] += 1;
    return isDone;
  }

  async #strike(strike: Strike): Promise<boolean> {
    switch (strike.kind) {
      case "kill":
      case "stop":
      case "terminate":
        return this.#strikeWorker(strike);
      case "kill after commit":
        return this.#killAfterCommit(strike);
      case "kill producer":
        return this.#killProducer(strike);
      case "cut off":
        return this.#cutOff(strike);
      case "restart server":
      case "kill server":
      case "outage":
      case "fail over":
      case "move slots":
        return this.#strikeServer(strike.kind, strike);
    }
  }

  async #strikeWorker(strike: Strike): Promise<boolean> {
    const { fleet, folder, server } = this.#options;
    const { kind, isAmbush, lengthMs } = strike;
    // Asked to stop while the store is away, a worker gives up what it could not say.
    if (kind === "terminate" && server && !server.isQuiet) return false;
    const victim = this.#worker(strike);
    if (!victim) return false;
    if (isAmbush) await lieInWait(folder, victim.file);
    if (victim.state !== "running") return false;
    if (kind === "kill") fleet.kill(victim.name);
    else if (kind === "terminate") fleet.terminate(victim.name);
    else {
      fleet.stop(victim.name);
      this.#continuing.push(pause(lengthMs).then(() => fleet.continue(victim.name)));
    }
    return true;
  }

  /** It has committed, and the store's own memory of it dies with it. */
  async #killAfterCommit(strike: Strike): Promise<boolean> {
    const { fleet, folder, server, prober } = this.#options;
    // Nobody commits anything while the store is away.
    if (server && !server.isQuiet) return false;
    const open = this.#open(strike);
    if (open.length === 0) return false;
    await prober.askForCommits();
    const victim = await firstToCommit(folder, open);
    if (victim?.state !== "running") return false;
    fleet.kill(victim.name);
    return true;
  }

  /** Producers that are through need no killing. */
  async #killProducer({ pick, isAmbush }: Strike): Promise<boolean> {
    const { fleet, folder, bait } = this.#options;
    const victim = this.#producer(pick);
    if (!victim) return true;
    bait();
    if (isAmbush) await lieInWait(folder, victim.file);
    if (victim.state !== "running") return false;
    fleet.kill(victim.name);
    return true;
  }

  async #cutOff(strike: Strike): Promise<boolean> {
    const { network, server, bait } = this.#options;
    // One at a time: what happens then has one reason.
    if (server && !server.isQuiet) return false;
    const producer = strike.pick < PRODUCERS_PART ? this.#producer(strike.sparePick) : undefined;
    const victim = producer ?? this.#worker(strike);
    if (!victim) return false;
    if (producer) bait();
    network.strike(victim, strike);
    return true;
  }

  async #strikeServer(kind: ServerStrikeKind, strike: Strike): Promise<boolean> {
    const { network, server, fleet } = this.#options;
    if (!server) return true;
    const isLeaving = fleet.alive("worker").some(({ state }) => state === "leaving");
    if (!server.isQuiet || !network.isQuiet || isLeaving) return false;
    server.strike(kind, strike);
    return true;
  }

  #producer(pick: number): Member | undefined {
    const producers = this.#options.fleet.running("producer").filter((one) => !one.isCutOff);
    return producers[Math.floor(pick * producers.length)];
  }

  #worker(strike: Strike): Member | undefined {
    const open = this.#open(strike);
    return open[Math.floor(strike.pick * open.length)];
  }

  /** Those that may be struck. */
  #open({ kind, sparePick }: Strike): Member[] {
    const { fleet, watch, server, leaseMs } = this.#options;
    const now = monotonicMs();
    const storeSince = Math.max(watch.writableSince, server?.upSince ?? 0);
    const workers = fleet.running("worker").map((worker) => ({
      worker,
      name: worker.name,
      healthySince: worker.isCutOff ? Infinity : Math.max(worker.healthySince, storeSince),
    }));
    this.#spared = spare(workers, { before: this.#spared, pick: sparePick, now, leaseMs });
    // A kill may hit a worker at any moment; a stop is for one that surely has jobs.
    const leastMs = kind === "stop" ? leaseMs / 2 : 0;
    const open = workers.filter(
      ({ name, worker }) =>
        name !== this.#spared &&
        (kind === "kill" || kind === "kill after commit" || !worker.isCutOff) &&
        now - worker.healthySince >= leastMs,
    );
    return open.map(({ worker }) => worker);
  }
}
