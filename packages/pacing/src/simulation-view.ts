/** A simulation as people and programs see it. */
import type { BudgetView, Counters } from "./report.ts";
import type { ActivityType, ScenarioKnobs, ScenarioParams } from "./scenario.ts";
import type { Policy, SimulationRecord, SimulationStatus } from "./simulation.ts";
import type { Distribution } from "./distribution.ts";
import type { ThinningEvent } from "./thinning-events.ts";

export interface SimulationView {
  readonly id: string;
  readonly status: SimulationStatus;
  readonly start: Date;
  readonly end: Date;
  /** After the scenario's scale. */
  readonly records: number;
  readonly distribution: Distribution;
  readonly segmentMs: number;
  readonly segments: number;
  readonly policy: Policy;
  readonly shard: number;
  readonly queue: string;
  readonly seed: string;
  readonly deals: boolean;
  /** In force now. */
  readonly params: ScenarioParams;
  readonly overrides: ScenarioKnobs;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly reason: string | null;
}

export interface Metrics {
  readonly id: string;
  readonly status: SimulationStatus;
  readonly records_total: number;
  readonly records_processed: number;
  readonly counters: Counters;
  readonly segments: {
    readonly total: number;
    readonly expanded: number;
    readonly open: readonly number[];
    readonly complete: number;
  };
  readonly budgets: Readonly<Record<ActivityType, BudgetView>>;
  /** Lately. */
  readonly thinning: readonly ThinningEvent[];
}

export function simulationView(
  sim: SimulationRecord,
  params: ScenarioParams,
  segments: number,
): SimulationView {
  const { id, plan, policy, shard, deals, overrides, status, reason } = sim;
  return {
    ...{ id, status, policy, shard, deals, overrides, reason, params, segments },
    ...{ start: new Date(plan.start), end: new Date(plan.end), records: plan.count },
    ...{ distribution: plan.distribution, segmentMs: plan.segmentMs, seed: plan.seed },
    queue: `simulation-jobs:${shard}`,
    createdAt: new Date(sim.createdAt),
    startedAt: sim.startedAt === null ? null : new Date(sim.startedAt),
    endedAt: sim.endedAt === null ? null : new Date(sim.endedAt),
  };
}
