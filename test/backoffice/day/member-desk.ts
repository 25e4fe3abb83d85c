/** Who changes members and payments at one process of the day: every job that this makes must succeed. */
import { expect } from "vitest";
import type { Answer, Office } from "../office.ts";
import { COMPANIES } from "./bookings.ts";
import type { Day } from "./day.ts";

export interface Member {
  readonly id: string;
  readonly companyId: string;
}

export class MemberDesk {
  readonly #day: Day;
  readonly #office: Office;

  constructor(day: Day, office: Office) {
    this.#day = day;
    this.#office = office;
  }

  /** Members of both companies, in turns. */
  async join(nth: number, tier = "basic"): Promise<{ member: Member; jobs: string[] }> {
    const path = `/api/companies/${COMPANIES[nth % COMPANIES.length]}/members`;
    const named = { email: `day${nth}@crm.example`, firstName: `Day ${nth}`, lastName: "Member" };
    const answer = await this.#office.post("staff", path, { ...named, phone: `+49 ${nth}`, tier });
    const jobs = this.#took(answer, 201);
    return { member: answer.body.member as Member, jobs };
  }

  async edit({ id, companyId }: Member, change: object): Promise<string[]> {
    const path = `/api/companies/${companyId}/members/${id}`;
    return this.#took(await this.#office.send("staff", "PATCH", path, change), 200);
  }

  async pay({ id: memberId, companyId }: Member, payment: object): Promise<string[]> {
    const path = `/api/companies/${companyId}/payments`;
    const body = { memberId, kind: "payment", ...payment };
    return this.#took(await this.#office.post("staff", path, body), 201);
  }

  #took({ status, body }: Answer, expected: number): string[] {
    expect({ status, body }).toMatchObject({ status: expected });
    const jobs = (body.crm as { jobId: string | null }[]).map(({ jobId }) => {
      if (jobId === null) throw new Error("the CRM will not hear of a change");
      this.#day.asked.add(jobId);
      return jobId;
    });
    return jobs;
  }
}
