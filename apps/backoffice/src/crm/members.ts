/** Members and what they pay. Every change tells the CRM. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Inject, Injectable, NotFoundException } from "@nestjs/common";
import { Data, type Rows } from "../data/data.ts";
import type { Row } from "../data/tables.ts";
import { CrmChanges, type Changed, type CrmChange, type CrmJob } from "./crm-changes.ts";
import { changesOf, companyOf, contactOf, paymentOf } from "./member-changes.ts";

export interface NewMember {
  readonly email: string;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly phone?: string | undefined;
  readonly tier: string;
  readonly status: string;
}

export type MemberChange = {
  readonly [Field in Exclude<keyof NewMember, "email">]?: NewMember[Field] | undefined;
};

export interface NewPayment {
  /** Of the payment intent. */
  readonly id: string;
  readonly memberId: string;
  readonly kind: "payment" | "day_pass";
  readonly amount: number;
  readonly description?: string | undefined;
}

@Injectable()
export class Members {
  constructor(
    @Inject(Data) private readonly data: Data,
    @Inject(CrmChanges) private readonly crm: CrmChanges,
  ) {}

  list(companyId: string): Promise<Row<"members">[]> {
    return this.data.find("members", { companyId });
  }

  payments(companyId: string): Promise<Row<"payments">[]> {
    return this.data.find("payments", { companyId });
  }

  find(companyId: string, id: string): Promise<Row<"members">> {
    return memberOf(this.data, companyId, id);
  }

  add(company: Row<"companies">, given: NewMember): Promise<Changed<Row<"members">>> {
    const now = new Date().toISOString();
    const { firstName = null, lastName = null, phone = null, email, tier, status } = given;
    const member: Row<"members"> = {
      ...{ id: randomUUID(), companyId: company.id, email: email.toLowerCase() },
      ...{ firstName, lastName, phone, tier, status, joinedAt: now, updatedAt: now },
    };
    return this.crm.change(async (tx) => {
      await tx.add("members", [member]);
      return { result: member, changes: [contactOf(member), companyOf(company, member)] };
    });
  }

  async edit(
    companyId: string,
    id: string,
    change: MemberChange,
  ): Promise<Changed<Row<"members">>> {
    const updatedAt = new Date().toISOString();
    const values = Object.fromEntries(
      Object.entries(change).filter(([, value]) => value !== undefined),
    ) as Partial<Row<"members">>;
    const { result, jobs } = await this.crm.change(async (tx) => {
      // First of all: whoever changes the same member waits here, so that jobs come in the order of the changes.
      const changed = await tx.change("members", { id, companyId }, { updatedAt });
      if (changed === 0) throw noSuchMember();
      const before = await memberOf(tx, companyId, id);
      await tx.change("members", { id, companyId }, values);
      const after = { ...before, ...values };
      return { result: after, changes: changesOf(before, after) };
    });
    // Stored after the commit, its jobs may come behind those of a change that was made after it.
    if (await this.crm.areTogether()) return { result, jobs };
    const more = await this.#catchUp(result, (changes) => this.crm.tellLate(changes));
    return { result, jobs: [...jobs, ...more] };
  }

  pay(company: Row<"companies">, given: NewPayment): Promise<Changed<Row<"payments">>> {
    const { id, memberId, kind, amount, description = null } = given;
    const createdAt = new Date().toISOString();
    return this.crm.change(async (tx) => {
      const { email } = await memberOf(tx, company.id, memberId);
      const payment: Row<"payments"> = {
        ...{ id, companyId: company.id, memberId, email, kind, amount, description, createdAt },
        currency: company.currency,
      };
      await tx.add("payments", [payment]);
      return { result: payment, changes: [paymentOf(payment)] };
    });
  }

  /** Everything as it is now, for a CRM that is new or behind. */
  async resync(): Promise<{ readonly members: number; readonly payments: number }> {
    const members = await this.data.find("members");
    const payments = await this.data.find("payments", {}, { orderBy: "createdAt" });
    const companies = await this.data.find("companies");
    const byId = new Map(companies.map((company) => [company.id, company]));
    const tell = (changes: readonly CrmChange[]) => this.crm.tell(changes);
    for (const member of members) {
      const company = byId.get(member.companyId);
      await tell([contactOf(member), ...(company ? [companyOf(company, member)] : [])]);
      // Somebody may have changed it since it was read, and that job is in front of this one.
      await this.#catchUp(member, tell);
    }
    await this.crm.tell(payments.map(paymentOf));
    return { members: members.length, payments: payments.length };
  }

  /** The CRM was told this of a member; if it is another by now, it is told that, until both are the same. */
  async #catchUp(
    told: Row<"members">,
    tell: (changes: readonly CrmChange[]) => Promise<readonly CrmJob[]>,
  ): Promise<readonly CrmJob[]> {
    const jobs: CrmJob[] = [];
    for (let last = told; ;) {
      const [now] = await this.data.find("members", { id: told.id });
      if (!now || isDeepStrictEqual(now, last)) return jobs;
      jobs.push(...(await tell([contactOf(now)])));
      last = now;
    }
  }
}

async function memberOf(rows: Rows, companyId: string, id: string): Promise<Row<"members">> {
  const [member] = await rows.find("members", { id, companyId });
  if (member) return member;
  throw noSuchMember();
}

function noSuchMember(): NotFoundException {
  return new NotFoundException("there is no such member, or it is of another company");
}
