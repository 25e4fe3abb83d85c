// src/queue/handlers/send-email.handler.ts
import { Injectable } from '@nestjs/common';
import { IJobHandler, JobResult } from '../queue.types';
import { JobDocument } from '../schemas/job.schema';

@Injectable()
export class SendEmailHandler implements IJobHandler {
  async handle(job: JobDocument): Promise<JobResult> {
    const { to, subject, body } = job.payload;

    // Email sending logic

    return { sent: true, messageId: '...' };
  }
}
