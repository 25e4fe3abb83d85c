/** Gates over a fleet, by chance and with faults; and the same with bugs that are planted, which must be found. */
import { describe, expect, it } from "vitest";
import { STORES } from "../rules/world.ts";
import { inTier } from "../runner/tier.ts";
import { breakerScenario } from "./breaker-scenario.ts";
import { countingAlone, liftingAll, returningTwice } from "./fault-links.ts";
import { rateScenario } from "./rate-scenario.ts";

const SEEDS = Array.from({ length: inTier({ daily: 3, full: 40 }) }, (_, at) => at + 1);

describe.each(STORES)("gates over a fleet on %s", (store) => {
  it("no window has more than its rate, and the rate is used", { timeout: 900_000 }, async () => {
    for (const seed of SEEDS) expect(await rateScenario(store, { seed })).toEqual([]);
  });

  it("a breaker probes as one, and no job pays for an outage", { timeout: 900_000 }, async () => {
    for (const seed of SEEDS) expect(await breakerScenario(store, { seed })).toEqual([]);
  });
});

describe("a planted bug is found", () => {
  async function findings(run: (seed: number) => Promise<string[]>): Promise<string> {
    for (let seed = 1; seed <= 25; seed += 1) {
      const broken = await run(seed);
      if (broken.length > 0) return broken.join("\n");
    }
    return "";
  }

  it("tokens that are returned twice", { timeout: 300_000 }, async () => {
    const found = await findings((seed) => rateScenario("memory", { seed, bug: returningTwice }));
    expect(found).toMatch(/in a window/);
  });

  it("probes that every process counts alone", { timeout: 300_000 }, async () => {
    const found = await findings((seed) => breakerScenario("memory", { seed, bug: countingAlone }));
    expect(found).toMatch(/in one opening/);
  });

  it("a hold that is lifted by one who does not own it", { timeout: 300_000 }, async () => {
    const bug = () => liftingAll;
    const found = await findings((seed) => breakerScenario("memory", { seed, bug }));
    expect(found).toMatch(/paused/);
  });
});
