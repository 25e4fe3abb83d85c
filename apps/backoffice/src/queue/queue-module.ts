/** System 2: handlers that are registered by the name of their type, as its text does it. */
import { Inject, Module, type OnModuleInit } from "@nestjs/common";
import { QueueWorkerService } from "@holdfast/nestjs";
import { CfoModule } from "../cfo/cfo-module.ts";
import { SendEmailHandler } from "./send-email-handler.ts";
import { TestJobHandler } from "./test-job-handler.ts";

export const JobType = {
  SEND_EMAIL: "send.email",
  TEST_JOB: "test.job",
} as const;

@Module({
  imports: [CfoModule],
  providers: [SendEmailHandler, TestJobHandler],
})
export class QueueModule implements OnModuleInit {
  constructor(
    @Inject(QueueWorkerService) private readonly worker: QueueWorkerService,
    @Inject(SendEmailHandler) private readonly email: SendEmailHandler,
    @Inject(TestJobHandler) private readonly test: TestJobHandler,
  ) {}

  onModuleInit(): void {
    this.worker.registerHandler(JobType.SEND_EMAIL, this.email);
    this.worker.registerHandler(JobType.TEST_JOB, this.test);
  }
}
