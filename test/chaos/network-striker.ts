/** Disturbs the way of one process to the store, and heals it. */
import { setTimeout as pause } from "node:timers/promises";
import { lieInWait } from "./ambush.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { Network } from "./network.ts";
import type { Prober } from "./prober.ts";
import type { Strike } from "./strikes.ts";
import { monotonicMs, type Witness } from "./witness.ts";

/** So long a process that has gone deaf goes on asking before its connections are cut. */
const DEAF_MS = 300;
const SLOWEST_MS = 400;

export interface NetworkStrikerOptions {
  readonly network: Network;
  readonly fleet: Fleet;
  readonly witness: Witness;
  /** Where the witnesses are. */
  readonly folder: string;
  readonly prober: Prober;
  /** The harness itself is in trouble. */
  readonly onTrouble: (error: Error) => void;
}

export class NetworkStriker {
  readonly #options: NetworkStrikerOptions;
  readonly #underway = new Set<Promise<void>>();

  constructor(options: NetworkStrikerOptions) {
    this.#options = options;
  }

  get isQuiet(): boolean {
    return this.#underway.size === 0;
  }

  async allHealed(): Promise<void> {
    await Promise.all(this.#underway);
  }

  strike(victim: Member, strike: Strike): void {
    const { fleet, onTrouble } = this.#options;
    fleet.cutOff(victim.name);
    const disturbing = this.#disturb(victim, strike)
      .catch(onTrouble)
      .finally(() => this.#underway.delete(disturbing));
    this.#underway.add(disturbing);
  }

  async #disturb({ name, file }: Member, strike: Strike): Promise<void> {
    const { network, fleet, witness, folder, prober } = this.#options;
    const { fault, pick, lengthMs, isAmbush } = strike;
    const proxies = network.of(name);
    if (isAmbush) await lieInWait(folder, file);
    const from = monotonicMs();
    switch (fault) {
      case "cut":
        for (const proxy of proxies) proxy.cut();
        break;
      case "hole":
        for (const proxy of proxies) proxy.set("hole");
        await pause(lengthMs);
        for (const proxy of proxies) proxy.set("open");
        break;
      case "slow":
        for (const proxy of proxies) proxy.slow(SLOWEST_MS * (0.2 + 0.8 * pick));
        await pause(lengthMs);
        for (const proxy of proxies) proxy.slow(0);
        break;
      case "deaf":
        // New connections hear everything: it is for the store to find that it needs some.
        for (const proxy of proxies) proxy.deafen();
        if (pick < 0.5) break;
        await pause(DEAF_MS);
        for (const proxy of proxies) proxy.cut();
        break;
    }
    fleet.healed(name);
    witness.saw({ what: "cut off", to: name, how: fault, from });
    await prober.probe();
  }
}
