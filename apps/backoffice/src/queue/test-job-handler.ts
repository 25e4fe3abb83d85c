/** `test.job` of system 2's own end-to-end test: answers what it was given, and shows that work is done. */
import { Injectable } from "@nestjs/common";
import type { IJobHandler, JobDocument, JobResult } from "@holdfast/nestjs";

@Injectable()
export class TestJobHandler implements IJobHandler {
  async handle(job: JobDocument): Promise<JobResult> {
    return { _id: job._id, attempts: job.attempts, echo: job.payload as unknown };
  }
}
