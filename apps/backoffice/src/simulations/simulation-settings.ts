/** What the environment says of simulations, in system 3's words where it has them. */
import { InvalidOptionError } from "holdfast";
import { pacingFromEnv, shardsFromEnv } from "@holdfast/pacing";
import { wholeOf, type Env } from "../config/env-values.ts";

export interface SimulationSettings {
  /** Over how many queues `simulation-jobs:<n>` simulations are spread. */
  readonly shards: number;
  /** Which of them this process works on. */
  readonly workShards: "all" | readonly number[];
  /** How often a running simulation is looked after. */
  readonly watchMs: number;
}

const WATCH = { min: 100, max: 3_600_000, or: 5_000 };

export function readSimulations(env: Env, problems: string[]): SimulationSettings {
  const watchMs = wholeOf(env, "SIMULATION_WATCH_MS", WATCH, problems);
  try {
    const { shards = 1 } = pacingFromEnv(env);
    const workShards = shardsFromEnv(env);
    if (workShards !== "all" && workShards.some((index) => index >= shards)) {
      problems.push(
        `SIMCRM_SHARD_INDEX takes indexes from 0 to ${shards - 1}: SIMCRM_QUEUE_SHARDS is ${shards}`,
      );
    }
    return { shards, workShards, watchMs };
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    problems.push(error.message);
    return { shards: 1, workShards: "all", watchMs };
  }
}
