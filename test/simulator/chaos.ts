/** What befalls processes and the store, from outside. */
import type { Draw } from "./draw.ts";
import type { Network } from "./network.ts";
import type { Weather } from "./settings.ts";
import type { SimProcess } from "./sim-process.ts";
import type { Tally } from "./tally.ts";
import type { VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";

const HOUR_MS = 3_600_000;
/** What a spell is about: everything, or one verb. */
const SPELLBOUND = [null, null, "lease", "renew", "settle", "insert"];

export interface ChaosOptions {
  readonly time: VirtualTime;
  readonly draw: Draw;
  readonly network: Network;
  readonly tally: Tally;
  readonly leaseMs: number;
  readonly processes: () => readonly SimProcess[];
  readonly restartStore: () => void;
  readonly setStoreClockBack: (ms: number) => void;
  readonly note: (text: string) => void;
}

export class Chaos {
  readonly #options: ChaosOptions;

  constructor(options: ChaosOptions) {
    this.#options = options;
  }

  strike(weather: Weather): void {
    const { draw, tally, network, leaseMs, note } = this.#options;
    const kind = draw.weighted(weather.chaos);
    const victim = this.#victim();
    switch (kind) {
      case "crash":
        victim?.crash();
        return;
      case "freeze":
        if (victim) this.#freeze(victim, draw.magnitude(0.1, 3) * leaseMs);
        return;
      case "stop":
        if (!victim) return;
        note(`${victim.name} is asked to stop`);
        void victim.stop(draw.pick([0, 500, 3_000]));
        return;
      case "partition":
        if (!victim) return;
        tally.count("partitions");
        note(`${victim.name} is cut off from the store`);
        victim.cutOff(draw.magnitude(0.1, 2.5) * leaseMs);
        return;
      case "outage":
        this.#outage(draw.between(0.05, 0.9) * leaseMs, draw.chance(0.5));
        return;
      case "longOutage":
        this.#outage(draw.between(1.1, 3) * leaseMs, true);
        return;
      case "slowSpell":
        network.slowDown(draw.between(0.2, 3) * leaseMs, draw.pick(SPELLBOUND));
        return;
      case "flakySpell":
        network.loseMore(draw.between(0.2, 3) * leaseMs, draw.pick(SPELLBOUND));
        return;
      case "lostLeases":
        note("replies of lease get lost for a while");
        network.loseLeases(draw.between(0.5, 3) * leaseMs);
        return;
      case "clockJump":
        victim?.jumpClock(draw.between(-HOUR_MS, HOUR_MS));
        return;
      case "storeClockBack":
        this.#options.setStoreClockBack(draw.between(1, leaseMs));
        return;
    }
  }

  #victim(): SimProcess | null {
    const up = this.#options.processes().filter((process) => process.isWorking);
    return up.length === 0 ? null : this.#options.draw.pick(up);
  }

  #freeze(victim: SimProcess, ms: number): void {
    const { time, tally, note } = this.#options;
    tally.count("freezes");
    note(`${victim.name} freezes for ${Math.round(ms)} ms`);
    victim.freeze();
    time.timer(ms, () => {
      if (victim.isAlive && victim.isFrozen) note(`${victim.name} is back`);
      victim.thaw();
    });
  }

  #outage(ms: number, restarts: boolean): void {
    const { time, network, tally, leaseMs, restartStore, note } = this.#options;
    if (network.isAway) return;
    tally.count(ms > leaseMs ? "outages longer than a lease" : "outages");
    note(`the store is away for ${Math.round(ms)} ms${restarts ? " and restarts" : ""}`);
    network.startOutage(ms);
    // While it is away nothing reaches it, so this is as good as any moment.
    if (restarts) time.timer(ms / 2, restartStore);
  }
}
