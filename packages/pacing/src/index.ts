/** Workloads spread over time: the instants of a plan come from a function, not from a list. */
export { Pacing, type PacingWorkOptions } from "./pacing.ts";
export {
  pacingFromEnv,
  shardsFromEnv,
  type OutboundOptions,
  type PacingOptions,
} from "./pacing-options.ts";
export type { ScenarioOptions, SimulationOptions } from "./simulation-options.ts";
export type { Metrics, SimulationView } from "./simulation-view.ts";
export type { Policy, SimulationStatus } from "./simulation.ts";
export {
  ACTIONS,
  ACTIVITIES,
  KNOBS,
  type Action,
  type ActivityType,
  type ScenarioKnobs,
  type ScenarioParams,
} from "./scenario.ts";
export type { CreateRecord, RecordToCreate } from "./run-record.ts";
export type { ActivityToDo, DoActivity } from "./run-activity.ts";
export type { ActivityPayload, RecordPayload } from "./jobs.ts";
export type { Distribution } from "./distribution.ts";
export { Timeline, type Plan, type Segment } from "./timeline.ts";
export type { BudgetView, Counters, SegmentView } from "./report.ts";
export type { DeadView, Replay, ReplayOptions } from "./dead-letters.ts";
export type { ThinningEvent } from "./thinning-events.ts";
export type { ThinningOptions } from "./thinning.ts";
export { simulationsView, type SimulationRow } from "./rows.ts";
export { activityKey, recordKey } from "./external-key.ts";
export { deriveShard } from "./names.ts";
export { SimulationNotFoundError, SimulationStateError, SimulationTakenError } from "./errors.ts";
