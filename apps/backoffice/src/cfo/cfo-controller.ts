/** What concerns no single company: which jobs there are, notifications, the outbox, a ping. */
import { Body, Controller, Get, HttpCode, Inject, Post, Req, UseGuards } from "@nestjs/common";
import { z } from "zod";
import {
  Authenticate,
  identityOf,
  noSuchCompany,
  RequireAllCompanies,
  RequireStaff,
} from "../auth/guards.ts";
import { maySee, type IdentifiedRequest } from "../auth/identity.ts";
import { zodBody } from "../config/zod-body.ts";
import type { Row } from "../data/tables.ts";
import { Bookkeeping } from "./bookkeeping.ts";
import { describeJobs } from "./cfo-jobs.ts";
import { CfoQueue, type Enqueued } from "./cfo-queue.ts";
import { Outbox } from "./outbox.ts";

const notifyBody = z.strictObject({
  companyId: z.string().min(1).max(64).nullable().optional(),
  subject: z.string().min(1).max(200),
  body: z.string().min(1).max(10_000),
});
const nothing = z.strictObject({});

@Controller("api")
@UseGuards(Authenticate)
export class CfoController {
  constructor(
    @Inject(CfoQueue) private readonly queue: CfoQueue,
    @Inject(Outbox) private readonly outbox: Outbox,
    @Inject(Bookkeeping) private readonly books: Bookkeeping,
  ) {}

  @Get("job-types")
  types() {
    return describeJobs();
  }

  @Post("notifications")
  @HttpCode(202)
  @UseGuards(RequireStaff)
  async notify(
    @Body(zodBody(notifyBody)) body: z.infer<typeof notifyBody>,
    @Req() request: IdentifiedRequest,
  ): Promise<Enqueued> {
    const { companyId = null } = body;
    if (!maySee(identityOf(request), companyId)) throw noSuchCompany();
    if (companyId !== null && !(await this.books.company(companyId))) throw noSuchCompany();
    return this.queue.notify(body);
  }

  @Get("outbox")
  @UseGuards(RequireStaff, RequireAllCompanies)
  async mails(): Promise<Row<"outbox">[]> {
    return this.outbox.newest();
  }

  @Post("ping")
  @HttpCode(202)
  @UseGuards(RequireStaff)
  ping(@Body(zodBody(nothing)) _: z.infer<typeof nothing>): Promise<Enqueued> {
    return this.queue.ping();
  }
}
