/** System 4's queue for those who look after it: counts, the monitor, a job by hand, and everything once more. */
import { Body, Controller, Get, HttpCode, Inject, Param, Post, UseGuards } from "@nestjs/common";
import { NotFoundException } from "@nestjs/common";
import { HubSpotError, type HubSpotPayloads } from "@holdfast/crm";
import { z } from "zod";
import { Authenticate, RequireAdmin, RequireAllCompanies, RequireStaff } from "../auth/guards.ts";
import { zodBody } from "../config/zod-body.ts";
import { CrmChanges } from "./crm-changes.ts";
import { CrmTarget } from "./crm-target.ts";
import { CRM, type Crm } from "./crm.ts";
import { Members } from "./members.ts";

const OPERATIONS = [
  ...["create_contact", "update_contact", "create_deal", "sync_member", "sync_tier"],
  ...["sync_company", "sync_day_pass", "sync_payment"],
] as readonly (keyof HubSpotPayloads)[];
const jobBody = z.strictObject({
  operation: z.enum(OPERATIONS),
  payload: z.record(z.string(), z.unknown()),
  priority: z.int().min(1).max(10).default(5),
});
const nothing = z.strictObject({});
const SHOWN = [
  ...["email", "firstname", "lastname", "phone", "membership_tier", "membership_status"],
  ...["billing_provider", "last_payment_at", "last_payment_amount", "last_day_pass_at"],
];

@Controller("api/crm")
@UseGuards(Authenticate, RequireStaff, RequireAllCompanies)
export class CrmController {
  constructor(
    @Inject(CRM) private readonly crm: Crm,
    @Inject(CrmTarget) private readonly target: CrmTarget,
    @Inject(CrmChanges) private readonly changes: CrmChanges,
    @Inject(Members) private readonly members: Members,
  ) {}

  /** What it is, and whether a change and its job commit together. */
  @Get()
  async about() {
    return {
      ...{ crm: this.crm.name, queue: this.crm.queue },
      target: this.target.double === null ? "hubspot" : "double",
      together: await this.changes.areTogether(),
    };
  }

  /** System 4's `getQueueStats`. */
  @Get("stats")
  stats() {
    return this.crm.stats();
  }

  /** System 4's `getHubSpotQueueMonitorData`. */
  @Get("monitor")
  monitor() {
    return this.crm.monitor();
  }

  /** System 4's `enqueueHubSpotSync`. */
  @Post("jobs")
  @HttpCode(202)
  async enqueue(@Body(zodBody(jobBody)) body: z.infer<typeof jobBody>) {
    const { operation, payload, priority } = body;
    const receipt = await this.crm.enqueue(operation, payload as never, { priority });
    return { jobId: receipt.id, status: receipt.status };
  }

  /** What the CRM has, read through the client of the sync. */
  @Get("contacts/:email")
  async contact(@Param("email") email: string) {
    const client = await this.crm.client();
    const asked = { idProperty: "email", properties: SHOWN };
    try {
      const found = await client.get("contacts", email.toLowerCase(), asked);
      if (found) return { id: found.id, properties: found.properties };
    } catch (error) {
      if (!(error instanceof HubSpotError) || error.status !== 404) throw error;
    }
    throw new NotFoundException("the CRM has no such contact");
  }

  /** Everything as it is now: for a CRM that is new, or behind. */
  @Post("resync")
  @HttpCode(202)
  @UseGuards(RequireAdmin)
  resync(@Body(zodBody(nothing)) _: z.infer<typeof nothing>) {
    return this.members.resync();
  }
}
