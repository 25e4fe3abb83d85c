/**
 * Takes the store away from everybody and gives it back:
 *
 *     up ──halt, or a network that swallows everything──▶ away ──resume──▶ up, everybody is probed
 *
 * While it is away, workers are killed and stopped as ever. After it is back nobody is struck until
 * every worker has taken a job, or should have: so all of them are measured.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ChaosServer } from "./chaos-store.ts";
import type { Network } from "./network.ts";
import type { Prober } from "./prober.ts";
import type { ServerStrikeKind, Strike } from "./strikes.ts";
import { monotonicMs, type OutageKind, type Witness } from "./witness.ts";

/** Of the store for everybody, however short. */
type Interruption = Exclude<ServerStrikeKind, "move slots">;

export interface ServerStrikerOptions {
  readonly server: ChaosServer;
  readonly network: Network;
  readonly witness: Witness;
  readonly prober: Prober;
  /** The harness itself is in trouble. */
  readonly onTrouble: (error: Error) => void;
}

export class ServerStriker {
  readonly #options: ServerStrikerOptions;
  #underway: Promise<void> | null = null;
  #upSince = 0;
  /** It is back, and its workers are watched. */
  #isCalm = false;

  constructor(options: ServerStrikerOptions) {
    this.#options = options;
  }

  get isQuiet(): boolean {
    return this.#underway === null;
  }

  get isCalm(): boolean {
    return this.#isCalm;
  }

  /** Infinity while it is away. */
  get upSince(): number {
    return this.#upSince;
  }

  async allHealed(): Promise<void> {
    await this.#underway;
  }

  strike(kind: ServerStrikeKind, strike: Strike): void {
    const striking = kind === "move slots" ? this.#moveSlots() : this.#takeAway(kind, strike);
    this.#underway = striking.catch(this.#options.onTrouble).finally(() => {
      this.#underway = null;
      this.#isCalm = false;
    });
  }

  /**
   * Work goes on, so the workers have no time to heal. But a queue whose keys lie on two nodes is out of reach
   * until the last has moved: no lease in it can be renewed or reaped.
   */
  async #moveSlots(): Promise<void> {
    const { server, witness, prober } = this.#options;
    const from = monotonicMs();
    const slots = await prober.busyWhile(server.moveSlots?.() ?? Promise.resolve([]));
    const now = monotonicMs();
    witness.saw({ what: "outage", how: "moved slots", from, healingAt: now, slots });
    this.#isCalm = true;
    await prober.probe();
  }

  async #takeAway(kind: Interruption, { pick, lengthMs }: Strike): Promise<void> {
    const { server, network, witness, prober } = this.#options;
    const how = this.#how(kind, pick);
    await server.ready?.();
    this.#upSince = Infinity;
    const from = monotonicMs();
    if (how === "silent") network.silence(true);
    else if (how === "failover") await server.failOver?.();
    else await server.halt(how === "kill" ? "kill" : "fast");
    if (kind === "outage") await pause(lengthMs);
    const healingAt = monotonicMs();
    if (how === "silent") network.silence(false);
    else if (how !== "failover") await server.resume();
    witness.saw({ what: "outage", how, from, healingAt });
    this.#upSince = monotonicMs();
    this.#isCalm = true;
    await prober.probe();
  }

  #how(kind: Interruption, pick: number): OutageKind {
    switch (kind) {
      case "restart server":
        return "restart";
      case "kill server":
        return "kill";
      case "fail over":
        return "failover";
      case "outage":
        return pick < 0.5 && this.#options.server.isWhole ? "halted" : "silent";
    }
  }
}
