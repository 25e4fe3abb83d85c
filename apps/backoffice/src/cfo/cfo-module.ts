/** System 1: the books of companies, by the queue `ai-cfo-jobs`. */
import { Module } from "@nestjs/common";
import { HoldfastModule } from "@holdfast/nestjs";
import { Bookkeeping } from "./bookkeeping.ts";
import { CfoController } from "./cfo-controller.ts";
import { CfoHandlers } from "./cfo-handlers.ts";
import { CFO_JOBS } from "./cfo-jobs.ts";
import { CfoQueue } from "./cfo-queue.ts";
import { CompaniesController } from "./companies-controller.ts";
import { Mailer } from "./mailer.ts";
import { ModelProvider, RuleProvider } from "./model-provider.ts";
import { Outbox } from "./outbox.ts";

@Module({
  imports: [HoldfastModule.forFeature(CFO_JOBS)],
  controllers: [CompaniesController, CfoController],
  providers: [
    ...[Bookkeeping, CfoQueue, CfoHandlers, Mailer, Outbox],
    { provide: ModelProvider, useClass: RuleProvider },
  ],
  exports: [Bookkeeping, CfoQueue, Outbox],
})
export class CfoModule {}
