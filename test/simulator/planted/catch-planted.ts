/**
 * Looks for a planted bug, seed by seed, until a promise is seen to be broken. Then the same seed runs
 * without the bug: only if that is clean was it the bug that was caught.
 */
import { memoryBacking } from "../backing.ts";
import { runSimulation, type SimulationReport } from "../run.ts";
import type { PlantedBug } from "./planted-bug.ts";

export interface Bounds {
  readonly seeds: number;
  readonly steps: number;
}

/** Most are found within the first seeds; the rarest need a coincidence, one seed in forty has it. */
export const PLANTED_BOUNDS: Bounds = { seeds: 240, steps: 6_000 };

/** The report of the seed that caught it; null: it got away. */
export async function catchPlanted(
  bug: PlantedBug,
  { seeds, steps }: Bounds = PLANTED_BOUNDS,
): Promise<SimulationReport | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const report = await runPlanted(bug, { seed, steps });
    if (!report.violation) continue;
    const { isUnderControl = false } = bug;
    const without = await runSimulation({ seed, steps, isUnderControl });
    if (!without.violation) return report;
  }
  return null;
}

export function runPlanted(
  { makeStore, tamperEngine, isUnderControl = false }: PlantedBug,
  options: { readonly seed: number; readonly steps: number },
): Promise<SimulationReport> {
  return runSimulation({
    ...{ ...options, isUnderControl },
    ...(makeStore && { makeBacking: memoryBacking(makeStore) }),
    ...(tamperEngine && { tamperEngine }),
  });
}
