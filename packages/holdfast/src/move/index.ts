/** From one store to another: whole jobs, with ids, due times, attempts, keys and history. */
export { adoptJobs, type Adoption } from "./adopt-jobs.ts";
export { exportJobs, type ExportOptions } from "./export-jobs.ts";
export { moveJobs, type MoveOptions, type MoveReport, type MoveStep } from "./move-jobs.ts";
export type { AdoptedJob } from "../core/job.ts";
