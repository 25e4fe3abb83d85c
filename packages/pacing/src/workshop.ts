/** What the jobs of this package share. */
import type { Holdfast, Logger } from "holdfast";
import type { Book } from "./book.ts";
import type { Jobs } from "./jobs.ts";
import { recordKeys } from "./names.ts";
import type { PressureGauge } from "./pressure-gauge.ts";
import type { Rows } from "./rows.ts";
import type { ScenarioKnobs, ScenarioParams } from "./scenario.ts";
import { paramsOf, type SimulationRecord } from "./simulation.ts";

export interface Workshop {
  readonly hf: Holdfast;
  readonly jobs: Jobs;
  readonly book: Book;
  readonly gauge: PressureGauge;
  readonly rows: Rows;
  readonly logger: Logger;
  readonly watchMs: number;
}

/** What an admin said for all simulations. */
export interface GeneralConfig {
  readonly overrides: ScenarioKnobs;
  readonly mark: string;
}

/** A simulation with the parameters of this moment. Null: there is none. */
export async function readSimulation(
  { book }: Pick<Workshop, "book">,
  id: string,
): Promise<{ readonly sim: SimulationRecord; readonly params: ScenarioParams } | null> {
  const [sim, config] = await Promise.all([
    book.desk.read<SimulationRecord>(recordKeys.simulation(id)),
    book.desk.read<GeneralConfig>(recordKeys.config),
  ]);
  return sim && { sim, params: paramsOf(sim, config?.overrides ?? null) };
}
