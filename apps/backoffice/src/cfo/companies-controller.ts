/** Companies and their books: what was booked, what was made of it, and the jobs that make it. */
import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Inject,
  NotFoundException,
  Param,
  Post,
  Req,
  Res,
  UseGuards,
} from "@nestjs/common";
import { z } from "zod";
import { Authenticate, identityOf, noSuchCompany, RequireStaff } from "../auth/guards.ts";
import { maySee, type IdentifiedRequest } from "../auth/identity.ts";
import { zodBody } from "../config/zod-body.ts";
import { Data } from "../data/data.ts";
import type { Row } from "../data/tables.ts";
import { Bookkeeping, linesOf } from "./bookkeeping.ts";
import { dataHashOf } from "./books.ts";
import { day, isPeriod, month, NO_PERIOD, period } from "./cfo-jobs.ts";
import { CfoQueue, type Enqueued } from "./cfo-queue.ts";
import { reportCsv } from "./report-csv.ts";

const snapshotsBody = z.strictObject({ amendedMonth: month.optional() });
const periodBody = z.strictObject(period).refine(isPeriod, NO_PERIOD);
const nothing = z.strictObject({});
const bookingBody = z.strictObject({
  transactionId: z.string().min(1).max(100),
  date: day,
  amount: z.number().min(-1e12).max(1e12).multipleOf(0.01),
  category: z.string().min(1).max(100),
  account: z.string().max(100).optional(),
  description: z.string().max(2_000).optional(),
});

@Controller("api/companies")
@UseGuards(Authenticate)
export class CompaniesController {
  constructor(
    @Inject(Bookkeeping) private readonly books: Bookkeeping,
    @Inject(CfoQueue) private readonly queue: CfoQueue,
    @Inject(Data) private readonly data: Data,
  ) {}

  @Get()
  async list(@Req() request: IdentifiedRequest): Promise<Row<"companies">[]> {
    const identity = identityOf(request);
    return (await this.data.find("companies")).filter(({ id }) => maySee(identity, id));
  }

  @Get(":companyId/transactions")
  async transactions(@Param("companyId") companyId: string): Promise<Row<"transactions">[]> {
    await this.#known(companyId);
    return this.books.transactions(companyId);
  }

  @Post(":companyId/transactions")
  @UseGuards(RequireStaff)
  async book(
    @Param("companyId") companyId: string,
    @Body(zodBody(bookingBody)) booking: z.infer<typeof bookingBody>,
  ): Promise<{ readonly transactionId: string }> {
    const { currency } = await this.#known(companyId);
    await this.data.add("transactions", [{ ...booking, companyId, currency }]);
    return { transactionId: booking.transactionId };
  }

  @Get(":companyId/snapshots")
  async snapshots(@Param("companyId") companyId: string): Promise<Row<"snapshots">[]> {
    await this.#known(companyId);
    return this.books.snapshots(companyId);
  }

  @Post(":companyId/snapshots")
  @HttpCode(202)
  @UseGuards(RequireStaff)
  async makeSnapshots(
    @Param("companyId") companyId: string,
    @Body(zodBody(snapshotsBody)) body: z.infer<typeof snapshotsBody>,
  ): Promise<Enqueued> {
    return this.queue.snapshots({ companyId, ...body, dataHash: await this.#hash(companyId) });
  }

  @Get(":companyId/reports")
  async reports(@Param("companyId") companyId: string) {
    await this.#known(companyId);
    const reports = await this.books.reports(companyId);
    return reports.map((report) => ({ ...report, lines: linesOf(report) }));
  }

  @Post(":companyId/reports")
  @HttpCode(202)
  @UseGuards(RequireStaff)
  async makeReport(
    @Param("companyId") companyId: string,
    @Body(zodBody(periodBody)) body: z.infer<typeof periodBody>,
  ): Promise<Enqueued> {
    return this.queue.report({ companyId, ...body, dataHash: await this.#hash(companyId, body) });
  }

  @Get(":companyId/reports/:reportId.csv")
  @Header("content-type", "text/csv; charset=utf-8")
  async download(
    @Param("companyId") companyId: string,
    @Param("reportId") id: string,
    @Res({ passthrough: true }) response: { setHeader(name: string, value: string): void },
  ): Promise<string> {
    const { currency } = await this.#known(companyId);
    const [report] = await this.data.find("reports", { companyId, id });
    if (!report) throw new NotFoundException("there is no such report");
    const name = `report-${report.periodStart}-${report.periodEnd}.csv`;
    response.setHeader("content-disposition", `attachment; filename="${name}"`);
    return reportCsv(report, currency);
  }

  @Post(":companyId/recalc")
  @HttpCode(202)
  @UseGuards(RequireStaff)
  async recalc(
    @Param("companyId") companyId: string,
    @Body(zodBody(periodBody)) body: z.infer<typeof periodBody>,
  ): Promise<Enqueued> {
    // It makes whole months and reports that reach beyond the period: a booking of any day is other work.
    return this.queue.recalc({ companyId, ...body, dataHash: await this.#hash(companyId) });
  }

  @Get(":companyId/insights")
  async insights(@Param("companyId") companyId: string): Promise<Row<"insights">[]> {
    await this.#known(companyId);
    return this.books.insights(companyId);
  }

  @Post(":companyId/insights")
  @HttpCode(202)
  @UseGuards(RequireStaff)
  async makeInsights(
    @Param("companyId") companyId: string,
    @Body(zodBody(nothing)) _: z.infer<typeof nothing>,
  ): Promise<Enqueued> {
    return this.queue.insights({ companyId, dataHash: await this.#hash(companyId) });
  }

  async #known(companyId: string): Promise<Row<"companies">> {
    const company = await this.books.company(companyId);
    if (!company) throw noSuchCompany();
    return company;
  }

  /** Of the data that a job will be about: after a change of them it is other work. */
  async #hash(
    companyId: string,
    within?: { readonly periodStart: string; readonly periodEnd: string },
  ): Promise<string> {
    await this.#known(companyId);
    return dataHashOf(await this.books.transactions(companyId, within));
  }
}
