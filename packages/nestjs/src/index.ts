/** A Holdfast as a NestJS module: handlers, listeners and schedules are providers. */
export { HoldfastModule } from "./module/holdfast-module.ts";
export type {
  HoldfastAsyncOptions,
  HoldfastModuleOptions,
  HoldfastOptionsFactory,
} from "./module/module-options.ts";
export { optionsFromConfig, type ConfigLike } from "./module/options-from-config.ts";
export { HoldfastRunner } from "./module/runner.ts";
export { nestLogger } from "./module/nest-logger.ts";
export { JobHandler, type JobHandlerDecorator } from "./decorators/job-handler.ts";
export type { HandlerOptions } from "./decorators/notes.ts";
export { OnJob, type OnJobDecorator, type OnJobOptions } from "./decorators/on-job.ts";
export { Schedule, type ScheduleDecoratorOptions } from "./decorators/schedule.ts";
export { InjectHoldfast, InjectJob, jobToken, type JobPort } from "./decorators/inject.ts";
export {
  JobStatus,
  type IJobHandler,
  type JobDocument,
  type JobResult,
} from "./queue/job-document.ts";
export { QueueJob } from "./queue/queue-job.ts";
export { QueueService, type EnqueueJobDto } from "./queue/queue-service.ts";
export { QueueWorkerService } from "./queue/queue-worker-service.ts";
export { HoldfastExceptionFilter } from "./http/exception-filter.ts";
export { httpAnswer, type HttpAnswer } from "./http/http-answer.ts";
export {
  HoldfastHealthIndicator,
  type HealthIndicatorResult,
  type PingOptions,
} from "./http/health-indicator.ts";
