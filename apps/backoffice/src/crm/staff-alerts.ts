/** System 4's `notifyAllStaff`: what died in the CRM's queue goes to staff, as a notification of system 1. */
import { Inject, Injectable } from "@nestjs/common";
import { OnJob } from "@holdfast/nestjs";
import { staffAlert } from "@holdfast/crm";
import type { JobEvents } from "holdfast";
import { CfoQueue } from "../cfo/cfo-queue.ts";
import { CRM, type Crm } from "./crm.ts";

const MOST_SUBJECT = 200;
const MOST_BODY = 10_000;
const SHOWN_JOBS = 20;

@Injectable()
export class StaffAlerts {
  constructor(
    @Inject(CRM) private readonly crm: Crm,
    @Inject(CfoQueue) private readonly queue: CfoQueue,
  ) {}

  @OnJob("alert")
  async tell(alert: JobEvents["alert"]): Promise<void> {
    const told = staffAlert(alert, this.crm);
    if (told === null) return;
    const { type, operation, retries, error, guidance, link, jobIds, count, integration } = told;
    const more = count > SHOWN_JOBS ? ` and ${count - SHOWN_JOBS} more` : "";
    const body = [
      `Job: ${jobIds.slice(-SHOWN_JOBS).join(", ")}${more}`,
      `Operation: ${operation}`,
      `Retries: ${retries}`,
      `Error: ${error}`,
      guidance,
      ...(link === null ? [] : [`Grant the missing scopes: ${link}`]),
    ].join("\n");
    const subject = `${type}: ${operation} of ${integration} died`.slice(0, MOST_SUBJECT);
    await this.queue.notify({ subject, body: body.slice(0, MOST_BODY) });
  }
}
