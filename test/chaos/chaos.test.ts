import { describe, expect, it } from "vitest";
import { QUICK } from "./chaos-options.ts";
import { CHAOS_STORES } from "./chaos-store.ts";
import { runChaos } from "./run-chaos.ts";

/** A fixed seed: what is struck is the same every time, what it hits never is. */
const SEED = 20_261_115;

describe.each(CHAOS_STORES)("workers that are killed, stopped and told to go, on %s", (store) => {
  it(
    "lose no job, run none twice without a reason and overwrite nothing",
    { timeout: 240_000 },
    async () => {
      const { verdict } = await runChaos({ ...QUICK, store, seed: SEED });
      expect(verdict.findings).toEqual([]);
      expect(verdict.enqueued.tried).toBe(QUICK.jobs);
      expect(verdict.processes).toMatchObject({ kills: QUICK.kills, stops: QUICK.stops });
    },
  );
});
