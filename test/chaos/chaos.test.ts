import { describe, expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { defaultsFor } from "./chaos-options.ts";
import { CHAOS_STORES, type ChaosStoreName } from "./chaos-store.ts";
import { runChaos } from "./run-chaos.ts";

/** A fixed seed: what is struck is the same every time, what it hits never is. */
const SEED = 20_261_115;

/** In the daily tier, one run a store: a cluster is Redis again, and so is a primary with its replica. */
const ONLY_IN_FULL: readonly ChaosStoreName[] = ["redis-cluster", "redis-failover"];

describe.each(CHAOS_STORES)(
  "workers that are killed, stopped, cut off and told to go, on %s",
  (store) => {
    it(
      "lose no job, run none twice without a reason and overwrite nothing",
      { timeout: 240_000 },
      async (context) => {
        if (ONLY_IN_FULL.includes(store)) onlyInFull(context);
        const plan = defaultsFor(store, { isQuick: true });
        const { verdict } = await runChaos({ ...plan, seed: SEED });
        const { stops, faults, restarts, serverKills, outages, failovers, moves } = plan;
        const kills = plan.kills + plan.commitKills;
        expect(verdict.findings).toEqual([]);
        expect(verdict.enqueued.tried).toBeGreaterThanOrEqual(plan.jobs);
        expect(verdict.processes).toMatchObject({ kills, stops });
        expect(verdict.healed.heals).toBe(
          faults + restarts + serverKills + outages + failovers + moves,
        );
      },
    );
  },
);
