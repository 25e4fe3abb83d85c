/** Which operations of system 4 a change of the business is. */
import type { Row } from "../data/tables.ts";
import type { CrmChange } from "./crm-changes.ts";

/** Who just joined or paid comes first. */
const SOON = 3;
const NAMES = ["firstName", "lastName", "phone"] as const;

export function contactOf(member: Row<"members">): CrmChange {
  const { email, tier, status } = member;
  const payload = { email, ...namesOf(member), tier, status };
  return { operation: "create_contact", payload, priority: SOON, isState: true };
}

export function companyOf({ id, name }: Row<"companies">, { email }: Row<"members">): CrmChange {
  return { operation: "sync_company", payload: { companyId: id, name, memberEmail: email } };
}

export function changesOf(before: Row<"members">, after: Row<"members">): CrmChange[] {
  const { email } = after;
  const changes: CrmChange[] = [];
  const names = namesOf(after, (field) => before[field] !== after[field]);
  if (Object.keys(names).length > 0) {
    changes.push({ operation: "create_contact", payload: { email, ...names }, isState: true });
  }
  if (before.tier !== after.tier) {
    const payload = { email, oldTier: before.tier, newTier: after.tier };
    changes.push({ operation: "sync_tier", payload, isState: true });
  }
  if (before.status !== after.status) {
    changes.push({ operation: "update_contact", payload: { email, status: after.status } });
  }
  return changes;
}

export function paymentOf(payment: Row<"payments">): CrmChange {
  const { id, email, kind, amount, currency, description, createdAt } = payment;
  const payload = {
    ...{ paymentIntentId: id, email, amountCents: Math.round(amount * 100), currency },
    ...{ paidAt: createdAt, ...(description !== null && { description }) },
  };
  const operation = kind === "day_pass" ? "sync_day_pass" : "sync_payment";
  return { operation, payload, priority: SOON };
}

function namesOf(
  member: Row<"members">,
  isWanted: (field: (typeof NAMES)[number]) => boolean = () => true,
): { firstName?: string; lastName?: string; phone?: string } {
  const wanted = NAMES.filter((field) => member[field] !== null && isWanted(field));
  return Object.fromEntries(wanted.map((field) => [field, member[field]]));
}
