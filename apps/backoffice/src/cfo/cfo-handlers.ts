/** What the six types do. Each may run again: it writes by key, and what it wrote before is replaced. */
import { Inject, Injectable } from "@nestjs/common";
import { JobHandler, type JobDocument } from "@holdfast/nestjs";
import { PermanentError } from "holdfast";
import { Users } from "../auth/users.ts";
import { Data } from "../data/data.ts";
import { Bookkeeping, monthsOf } from "./bookkeeping.ts";
import { monthTotals } from "./books.ts";
import {
  batchRecalc,
  generateAIInsights,
  generateMonthlySnapshots,
  healthPing,
  sendNotifications,
  updateReports,
} from "./cfo-jobs.ts";
import { ModelProvider } from "./model-provider.ts";
import { Outbox } from "./outbox.ts";

type Payload<Contract extends { readonly payload: unknown }> =
  NonNullable<Contract["payload"]> extends {
    readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
  }
    ? Output
    : never;

@Injectable()
export class CfoHandlers {
  constructor(
    @Inject(Bookkeeping) private readonly books: Bookkeeping,
    @Inject(Users) private readonly users: Users,
    @Inject(Outbox) private readonly outbox: Outbox,
    @Inject(ModelProvider) private readonly provider: ModelProvider,
    @Inject(Data) private readonly data: Data,
  ) {}

  @JobHandler(generateMonthlySnapshots)
  async snapshots({ payload }: JobDocument<Payload<typeof generateMonthlySnapshots>>) {
    await this.#company(payload.companyId);
    return this.books.snapshot(payload.companyId, payload.amendedMonth);
  }

  @JobHandler(updateReports)
  async report({ payload }: JobDocument<Payload<typeof updateReports>>) {
    const { companyId, periodStart, periodEnd } = payload;
    await this.#company(companyId);
    return this.books.report(companyId, { periodStart, periodEnd });
  }

  /** The months of a period and the reports that touch it, from the bookings anew. */
  @JobHandler(batchRecalc)
  async recalc(job: JobDocument<Payload<typeof batchRecalc>>) {
    const { companyId, periodStart, periodEnd } = job.payload;
    await this.#company(companyId);
    const months = monthsOf({ periodStart, periodEnd });
    for (const month of months) {
      job.signal.throwIfAborted();
      await this.books.snapshot(companyId, month);
    }
    const reports = (await this.books.reports(companyId)).filter(
      (one) => one.periodStart <= periodEnd && one.periodEnd >= periodStart,
    );
    for (const { periodStart: from, periodEnd: to } of reports) {
      await this.books.report(companyId, { periodStart: from, periodEnd: to });
    }
    return { months: months.length, reports: reports.length };
  }

  @JobHandler(generateAIInsights)
  async insights(job: JobDocument<Payload<typeof generateAIInsights>>) {
    const { companyId } = job.payload;
    const { name, currency } = await this.#company(companyId);
    const months = monthTotals(await this.books.transactions(companyId));
    const { signal } = job;
    const found = await this.provider.insights({ company: name, currency, months, signal });
    const day = job.createdAt.toISOString().slice(0, 10);
    const createdAt = new Date().toISOString();
    await this.data.transaction(async (tx) => {
      await tx.remove("insights", { companyId, day });
      await tx.add(
        "insights",
        found.map((one) => ({ ...one, companyId, day, provider: this.provider.name, createdAt })),
      );
    });
    return { insights: found.length, provider: this.provider.name };
  }

  @JobHandler(sendNotifications)
  async notify(job: JobDocument<Payload<typeof sendNotifications>>) {
    const { companyId, subject, body } = job.payload;
    const staff = await this.users.staff(companyId);
    const recipients = staff.map(({ email }) => email);
    return this.outbox.deliver({ id: job.id, companyId, subject, body, recipients });
  }

  @JobHandler(healthPing)
  async ping({ payload }: JobDocument<Payload<typeof healthPing>>) {
    await this.data.ping();
    const pongAt = new Date();
    const { sentAt } = payload;
    const tookMs = sentAt === undefined ? null : pongAt.getTime() - Date.parse(sentAt);
    return { pong: true, pongAt: pongAt.toISOString(), tookMs };
  }

  /** A company that is gone does not come back by trying again. */
  async #company(companyId: string) {
    const company = await this.books.company(companyId);
    if (company) return company;
    throw new PermanentError("there is no such company: was it removed?");
  }
}
