/**
 * What the API answers, made from the types that the server and the library answer with: a field that changes
 * there is an error of types here. Only types are taken from them; nothing of theirs is in the bundle.
 */
import type {
  Alert,
  FailureView,
  FaultGroup as LibraryFaultGroup,
  FleetWorker,
  GateView,
  HoldView,
  JobListing as LibraryJobListing,
  JobView,
  LineView,
  LockView,
  OperationView,
  RunView,
  ScheduleView,
  StatsView,
  WhyView,
} from "holdfast";
import type { z } from "zod";
import type { actionView, auditEntry } from "../../../server/src/routes/job-schemas.ts";
import type { overview } from "../../../server/src/routes/system.ts";
import type { planView } from "../../../server/src/routes/operation-schemas.ts";
import type { tokenView } from "../../../server/src/routes/tokens.ts";

/** As JSON has it: dates are texts. */
export type Sent<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Sent<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Sent<T[Key]> }
      : T;

export type Role = "viewer" | "operator" | "admin";

export interface Me {
  readonly by: string;
  readonly role: Role;
  readonly via: string;
  readonly queues: readonly string[] | null;
  readonly isReadOnly: boolean;
  readonly basePath: string;
  /** What the server has beside its own routes: `imports`, `pacing`. */
  readonly mounts: readonly string[];
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export type Overview = z.output<typeof overview> & { readonly queues: readonly QueueCounts[] };
export type Action = z.output<typeof actionView>;
export type AuditEntry = z.output<typeof auditEntry>;
export type Token = z.output<typeof tokenView>;
export type Plan = Omit<z.output<typeof planView>, "sample"> & {
  readonly sample: readonly JobListing[];
};

export interface QueueCounts {
  readonly queue: string;
  readonly ready: number;
  readonly delayed: number;
  readonly processing: number;
  readonly succeeded: number;
  readonly dead: number;
  readonly cancelled: number;
  readonly retrying: number;
  readonly oldestReadyAt: string | null;
  /** Null: not looked at. */
  readonly holds: readonly string[] | null;
}

export type Hold = Sent<HoldView>;
export type Line = Sent<LineView>;

export interface QueueDetails extends Omit<QueueCounts, "holds"> {
  readonly holds: readonly Hold[];
  readonly active: number;
  readonly maxActive: number | null;
  readonly maxActivePerGroup: number | null;
  readonly maxWaiting: number | null;
  readonly overflow: string;
  readonly keep: Readonly<
    Record<
      string,
      { readonly maxAgeMs?: number | null; readonly maxCount?: number | null } | null | undefined
    >
  >;
}

export type JobStatus = LibraryJobListing["status"];
export type JobListing = Sent<LibraryJobListing>;
export type Job = Sent<JobView>;
export type Why = Sent<WhyView>;
export type Stats = Sent<StatsView>;
export type FaultGroup = Sent<LibraryFaultGroup>;
export type Operation = Sent<OperationView>;
export type Failure = Sent<FailureView>;
export type Worker = Sent<FleetWorker>;
export type Gate = Sent<GateView>;
export type Schedule = Sent<ScheduleView>;
export type Run = Sent<RunView>;
export type Lock = Sent<LockView>;
export type AlertSent = Sent<Alert>;

export interface JobType {
  readonly type: string;
  readonly queue: string | null;
  readonly isHandled: boolean;
  readonly hasSchema: boolean;
  readonly maxAttempts: number | null;
  readonly mayEnqueue: boolean;
  /** JSON Schema of its payloads, where it was asked for and can be had. */
  readonly schema: Readonly<Record<string, unknown>> | null;
}

export interface Finding {
  readonly level: "ok" | "warning" | "problem";
  readonly what: string;
  readonly advice: string | null;
}

export interface Planned {
  readonly plan: Plan;
  readonly operation: Operation | null;
}

export interface DeadSummary {
  readonly total: number;
  readonly byCategory: Readonly<Record<string, number>>;
  readonly byQueue: Readonly<Record<string, number>>;
  readonly byGroup: Readonly<Record<string, number>>;
}

export interface Preset {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}
