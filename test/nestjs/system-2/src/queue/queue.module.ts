import { Module, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { QueueWorkerService } from '@holdfast/nestjs';
import { CustomerRepository } from '../customers/customer.repository';
import { ImportXlsxHandler } from './handlers/import-xlsx.handler';
import { SendEmailHandler } from './handlers/send-email.handler';
import { JobType } from './queue.constants';
import { QueueController } from './queue.controller';

// src/queue/queue.module.ts
@Module({
  controllers: [QueueController],
  providers: [
    CustomerRepository,
    ImportXlsxHandler,
    SendEmailHandler,  // Add to providers
  ],
})
export class QueueModule implements OnModuleInit {
  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly worker: QueueWorkerService,
  ) {}

  onModuleInit() {
    const emailHandler = this.moduleRef.get(SendEmailHandler);
    this.worker.registerHandler(JobType.SEND_EMAIL, emailHandler);
    const importHandler = this.moduleRef.get(ImportXlsxHandler);
    this.worker.registerHandler(JobType.IMPORT_XLSX_CUSTOMERS, importHandler);
  }
}
