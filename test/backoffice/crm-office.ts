/** A back office and the CRM that it keeps in step: a double that the test can break. */
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";
import { expect } from "vitest";
import { NORTHWIND, Office, type Answer, type Env } from "./office.ts";

/** Minutes of system 4 as hundredths of a second. */
const QUICK = {
  ...{ HUBSPOT_RETRY_BASE_MS: "20", HUBSPOT_BREAKER_OPEN_MS: "300", SIMULATION_WATCH_MS: "200" },
};
const WAIT_MS = 25_000;
export const WAIT = { timeout: WAIT_MS };

export interface CrmJob {
  readonly operation: string;
  readonly jobId: string;
  readonly status: string;
}

export class CrmOffice {
  readonly office: Office;
  readonly double: HubSpotDouble;

  private constructor(office: Office, double: HubSpotDouble) {
    this.office = office;
    this.double = double;
  }

  static async open(env: Env = {}): Promise<CrmOffice> {
    // Tests of the sync itself keep HubSpot's rate; these need not wait for it.
    const double = await hubspotDouble({ limits: { max: 10_000 } });
    try {
      const crm = { HUBSPOT_TOKEN: double.token, HUBSPOT_URL: double.url, ...QUICK };
      return new CrmOffice(await Office.open({ ...crm, ...env }), double);
    } catch (error) {
      await double.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.office.close();
    await this.double.close();
  }

  properties(email: string): Readonly<Record<string, unknown>> | null {
    return this.double.contact(email)?.properties ?? null;
  }

  async join(email: string, more: object = {}): Promise<{ memberId: string; crm: CrmJob[] }> {
    const body = { email, tier: "basic", ...more };
    const answer = await this.office.post("staff", `/api/companies/${NORTHWIND}/members`, body);
    expect(answer).toMatchObject({ status: 201 });
    return { memberId: answer.body.member.id as string, crm: answer.body.crm as CrmJob[] };
  }

  async edit(memberId: string, change: object): Promise<Answer> {
    const path = `/api/companies/${NORTHWIND}/members/${memberId}`;
    return this.office.send("staff", "PATCH", path, change);
  }

  /** How each of them ended. */
  async ends(jobs: readonly CrmJob[]): Promise<string[]> {
    const ended = jobs.map(({ jobId }) => this.office.hf.waitFor(jobId, { timeoutMs: WAIT_MS }));
    return (await Promise.all(ended)).map(({ status }) => status);
  }

  async pause(): Promise<void> {
    const body = { reason: "a test looks" };
    const answer = await this.office.post("staff", "/api/v1/queues/hubspot/pause", body);
    expect(answer).toMatchObject({ status: 200 });
  }

  async resume(): Promise<void> {
    const answer = await this.office.post("staff", "/api/v1/queues/hubspot/resume");
    expect(answer).toMatchObject({ status: 200 });
  }

  /** Every member of the business is a contact, and says the same. */
  async isInStep(): Promise<void> {
    for (const member of await this.office.data.find("members", { companyId: NORTHWIND })) {
      if (!member.email.endsWith("@crm.example")) continue;
      expect(this.properties(member.email), member.email).toMatchObject({
        ...{ membership_tier: member.tier, membership_status: member.status },
        ...(member.phone !== null && { phone: member.phone }),
      });
    }
  }
}
