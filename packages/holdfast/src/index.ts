/**
 * Holdfast: a job system for TypeScript that keeps its promises on the database you already run.
 * This is the front door; stores have their own: holdfast/sqlite, holdfast/postgres,
 * holdfast/redis, holdfast/mongodb, holdfast/memory.
 */
export { Holdfast } from "./any-holdfast.ts";
export type { HoldfastOptions, Resilience } from "./holdfast-options.ts";
export type { Middleware } from "./middleware.ts";
export type { Actor, AuditNote, KnownType, Tools } from "./tools.ts";
export type { Records, StoredRecord, Swap, SwapResult } from "./core/records.ts";
export type { QueueSettingsPatch, QueueSettingsView, SetOptions } from "./control/queues/queues.ts";
export type {
  AppRecord,
  AppRecordsPage,
  AppSwap,
  AppSwapResult,
} from "./control/records/app-records.ts";
export type {
  Durations,
  FailingType,
  FinishedCounts,
  StatsPoint,
  StatsQuery,
  StatsView,
} from "./control/stats/stats.ts";
export type {
  FailuresCountQuery,
  FailuresPage,
  FailuresQuery,
  FailureView,
} from "./control/failures/failures.ts";
export type {
  DeadLettersPage,
  DeadLettersQuery,
  DeadPlanOptions,
  DeadSummary,
  DecisionOptions,
  FaultGroup,
  GroupsQuery,
  IgnoreOptions,
} from "./control/dead-letters/dead-letters.ts";
export { webhook, type WebhookOptions } from "./control/alerts/webhook.ts";
export { verifyWebhook, type VerifyWebhookOptions } from "./control/alerts/webhook-signature.ts";
export type { AlertOptions, Notifier } from "./control/alerts/alert-options.ts";
export type { AlertsPage, AlertsQuery } from "./control/alerts/alerts.ts";
export type {
  Alert,
  AlertKind,
  DeadAlert,
  DepthAlert,
  LagAlert,
  MemoryAlert,
  OperationAlert,
  SpikeAlert,
} from "./core/alert.ts";
export type { PresetOptions } from "./control/dead-letters/presets.ts";
export type {
  Operation,
  OperationView,
  Plan,
  PlanOptions,
  StartOptions,
} from "./control/operations/operations.ts";
export type { Action as OperationAction } from "./control/operations/operation.ts";
export type { AcquireOptions, GateView, HeldReason } from "./control/gates/gates.ts";
export type {
  BreakerOptions,
  GateOptions,
  GateTarget,
  RateOptions,
} from "./control/gates/gate-options.ts";
export type {
  RunsPage,
  RunsQuery,
  ScheduleOptions,
  ScheduleView,
  SchedulesQuery,
} from "./control/schedules/schedules.ts";
export type { RuleOptions } from "./core/schedule-rule.ts";
export type { RunView } from "./control/schedules/run-view.ts";
export type { LocksPage, LocksQuery, LockView } from "./control/locks/locks.ts";
export { isSkipped, type SkippedResult } from "./control/locks/skipped-result.ts";
export type { LockedJob, LockOptions } from "./core/lock-options.ts";
export type { Archive } from "./control/archive/archive-dead.ts";
export { Redactor, type RedactOptions } from "./core/redact.ts";
export type { JobsFilter } from "./engine/operate/jobs-filter.ts";
export type { WhyView } from "./control/why/why.ts";
export type { Reason, ReasonKind } from "./control/why/reason.ts";
export type { CommandOptions, FleetWorker } from "./control/workers/workers.ts";
export type { AttemptView as AttemptContext } from "./engine/extension.ts";
export {
  defineJob,
  type DueOptions,
  type EnqueueOptions,
  type JobContract,
  type JobItem,
  type JobOptions,
} from "./core/contract.ts";
export type { Jsonified, StoredResult } from "./core/jsonified.ts";
export type { RetryPolicy } from "./core/backoff.ts";
export type { Classification } from "./core/classify.ts";
export type { ErrorCategory, Failure, JobStatus, Progress } from "./core/job.ts";
export type { Lineage } from "./core/lineage.ts";
export type { StandardSchema } from "./core/standard-schema.ts";
export type { AuditBody, FailureBody, LedgerStore } from "./core/ledger.ts";
export type { Store, StoreInfo } from "./core/store.ts";
export type { Health, WorkerHealth } from "./engine/operate/health.ts";
export type { LedgerEntries, LedgerEntryView, LedgerQuery } from "./engine/operate/ledger-view.ts";
export type { SpoolStore } from "./engine/produce/spool.ts";
export type { EnqueueAnswer, Receipt, ReceiptStatus } from "./engine/produce/producer.ts";
export type { AttemptView, FinishedJob, JobListing, JobView } from "./engine/operate/job-view.ts";
export type {
  JobsPage,
  JobsQuery,
  LimitOptions,
  LineTarget,
  PauseOptions,
  RetryOptions,
  WhyOptions,
} from "./engine/operate/operator.ts";
export type { HoldView, LinesView, LineView, QueueView } from "./engine/operate/lines-view.ts";
export { closeOnSignals } from "./engine/close-on-signals.ts";
export type { EventName, JobEvents } from "./engine/events.ts";
export type { Handler } from "./engine/registry.ts";
export type { Intent, RunningJob } from "./engine/run/running-job.ts";
export type { KeepRule, KeepRules, RetentionOptions } from "./engine/retention.ts";
export type { Logger } from "./engine/logger.ts";
export type { DefinedJob } from "./engine/typed-jobs.ts";
export type { WorkOptions } from "./engine/lease/work-options.ts";
export type { Worker } from "./engine/lease/worker.ts";
export {
  ClosedError,
  DuplicateJobError,
  GateNotFoundError,
  HoldfastError,
  IdempotencyConflictError,
  InlineRefusedError,
  InvalidCursorError,
  InvalidNameError,
  InvalidOptionError,
  InvalidPayloadError,
  JobCancelledError,
  JobNotFoundError,
  JobTimeoutError,
  KeyBusyError,
  LeaseLostError,
  LockNotFoundError,
  LockScopeError,
  MoveRefusedError,
  NotInTransactionError,
  OperationNotFoundError,
  OperationStateError,
  PayloadTooLargeError,
  PayloadValidationError,
  PermanentError,
  PresetNotFoundError,
  PrivateAddressError,
  QueueFullError,
  ResultValidationError,
  RetryAfterError,
  ScheduleInCodeError,
  ScheduleNotFoundError,
  SpawnLimitError,
  StepError,
  StoreFullError,
  StoreOpenError,
  StoreUnavailableError,
  TransactionOpenError,
  TypeTakenError,
  UnknownTypeError,
  UnsupportedError,
  WaitTimeoutError,
  WebhookError,
  WorkerNotFoundError,
  WorkerStoppedError,
} from "./core/errors.ts";
