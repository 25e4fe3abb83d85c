/** System 2's `send.email`, with the interface that its handlers have: `handle(job)`, `job._id`. */
import { Inject, Injectable } from "@nestjs/common";
import type { IJobHandler, JobDocument, JobResult } from "@holdfast/nestjs";
import { PermanentError } from "holdfast";
import { z } from "zod";
import { Outbox } from "../cfo/outbox.ts";

const mail = z.object({
  to: z.email().max(254),
  subject: z.string().min(1).max(200),
  body: z.string().min(1).max(10_000),
});

@Injectable()
export class SendEmailHandler implements IJobHandler {
  constructor(@Inject(Outbox) private readonly outbox: Outbox) {}

  async handle(job: JobDocument): Promise<JobResult> {
    const read = mail.safeParse(job.payload);
    if (!read.success) {
      const fields = read.error.issues.map(({ path }) => path.join(".") || "the payload");
      // A payload that does not fit will not fit the next time.
      throw new PermanentError(`this is no mail, look at: ${fields.join(", ")}`);
    }
    const { to, subject, body } = read.data;
    const { sent } = await this.outbox.deliver({
      ...{ id: job._id, companyId: null, subject, body, recipients: [to] },
    });
    // Without SMTP it waits in the outbox, and was not sent.
    return { sent: sent === 1, messageId: `${job._id}:${to}` };
  }
}
