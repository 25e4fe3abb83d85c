/** Members of a company and what they pay. A change answers with the jobs that bring it to the CRM. */
import { Body, Controller, Get, Inject, Param, Patch, Post, UseGuards } from "@nestjs/common";
import { z } from "zod";
import { Authenticate, noSuchCompany, RequireStaff } from "../auth/guards.ts";
import { zodBody } from "../config/zod-body.ts";
import { Data } from "../data/data.ts";
import type { Row } from "../data/tables.ts";
import type { Changed, CrmJob } from "./crm-changes.ts";
import { Members } from "./members.ts";

const STATUSES = ["active", "trialing", "past_due", "paused", "cancelled", "inactive"] as const;
const text = (max: number) => z.string().trim().min(1).max(max);
const about = {
  ...{ firstName: text(100).optional(), lastName: text(100).optional() },
  phone: text(50).optional(),
};
const newMember = z.strictObject({
  ...{ email: z.email().max(254), ...about, tier: text(100) },
  status: z.enum(STATUSES).default("active"),
});
const memberChange = z
  .strictObject({ ...about, tier: text(100).optional(), status: z.enum(STATUSES).optional() })
  .refine((given) => Object.keys(given).length > 0, { message: "says nothing that changes" });
const newPayment = z.strictObject({
  ...{ id: text(100), memberId: text(100), kind: z.enum(["payment", "day_pass"]) },
  amount: z.number().positive().max(1e9).multipleOf(0.01),
  description: text(500).optional(),
});

@Controller("api/companies/:companyId")
@UseGuards(Authenticate)
export class MembersController {
  constructor(
    @Inject(Members) private readonly members: Members,
    @Inject(Data) private readonly data: Data,
  ) {}

  @Get("members")
  async list(@Param("companyId") companyId: string): Promise<Row<"members">[]> {
    await this.#company(companyId);
    return this.members.list(companyId);
  }

  @Get("members/:memberId")
  async one(
    @Param("companyId") companyId: string,
    @Param("memberId") memberId: string,
  ): Promise<Row<"members">> {
    await this.#company(companyId);
    return this.members.find(companyId, memberId);
  }

  @Post("members")
  @UseGuards(RequireStaff)
  async add(
    @Param("companyId") companyId: string,
    @Body(zodBody(newMember)) body: z.infer<typeof newMember>,
  ) {
    return memberAnswer(await this.members.add(await this.#company(companyId), body));
  }

  @Patch("members/:memberId")
  @UseGuards(RequireStaff)
  async edit(
    @Param("companyId") companyId: string,
    @Param("memberId") memberId: string,
    @Body(zodBody(memberChange)) body: z.infer<typeof memberChange>,
  ) {
    await this.#company(companyId);
    return memberAnswer(await this.members.edit(companyId, memberId, body));
  }

  @Get("payments")
  async payments(@Param("companyId") companyId: string): Promise<Row<"payments">[]> {
    await this.#company(companyId);
    return this.members.payments(companyId);
  }

  @Post("payments")
  @UseGuards(RequireStaff)
  async pay(
    @Param("companyId") companyId: string,
    @Body(zodBody(newPayment)) body: z.infer<typeof newPayment>,
  ): Promise<{ readonly payment: Row<"payments">; readonly crm: readonly CrmJob[] }> {
    const { result, jobs } = await this.members.pay(await this.#company(companyId), body);
    return { payment: result, crm: jobs };
  }

  async #company(companyId: string): Promise<Row<"companies">> {
    const [company] = await this.data.find("companies", { id: companyId });
    if (!company) throw noSuchCompany();
    return company;
  }
}

function memberAnswer({ result, jobs }: Changed<Row<"members">>) {
  return { member: result, crm: jobs };
}
