/** Puts the sample into an empty database, all of it or nothing. */
import { hashPassword } from "../auth/password.ts";
import { DuplicateRowError, type Data } from "./data.ts";
import {
  SAMPLE_COMPANIES,
  sampleInvoices,
  samplePeople,
  sampleTransactions,
} from "./sample-companies.ts";
import type { NewRow } from "./tables.ts";

export interface SampleUser {
  readonly email: string;
  readonly name: string;
  readonly role: "viewer" | "operator" | "admin";
  readonly companyId: string | null;
  /** Known to everybody: a back office that others can reach does not start with it. */
  readonly password: string;
}

const [northwind] = SAMPLE_COMPANIES as readonly [NewRow<"companies">];

export const SAMPLE_USERS: readonly SampleUser[] = [
  user("admin@backoffice.example", "Ada Admin", { role: "admin", password: "try-admin-2026" }),
  user("staff@backoffice.example", "Stan Staff", { role: "operator", password: "try-staff-2026" }),
  user("viewer@backoffice.example", "Vera Viewer", {
    ...{ role: "viewer", password: "try-viewer-2026" },
  }),
  user("owner@northwind.example", "Olga Owner", {
    ...{ role: "operator", password: "try-owner-2026", companyId: northwind.id },
  }),
];

/** False where there are companies already. With a password, it is that of all users. */
export async function seed(data: Data, chosen: string | null = null): Promise<boolean> {
  if ((await data.count("companies")) > 0) return false;
  const createdAt = new Date().toISOString();
  const users = await Promise.all(
    SAMPLE_USERS.map(async ({ password, ...one }, index) => ({
      ...{ id: `U-${index + 1}`, ...one, createdAt },
      passwordHash: await hashPassword(chosen ?? password),
    })),
  );
  const { members, customers, payments } = samplePeople();
  const { payables, receivables, vendors, budgets } = sampleInvoices();
  try {
    await data.transaction(async (tx) => {
      await tx.add("companies", SAMPLE_COMPANIES);
      await tx.add("users", users);
      await tx.add("transactions", sampleTransactions());
      await tx.add("members", members);
      await tx.add("customers", customers);
      await tx.add("payments", payments);
      await tx.add("payables", payables);
      await tx.add("receivables", receivables);
      await tx.add("vendors", vendors);
      await tx.add("budgets", budgets);
    });
  } catch (error) {
    // Another process was faster.
    if (error instanceof DuplicateRowError) return false;
    throw error;
  }
  return true;
}

function user(
  email: string,
  name: string,
  rest: Pick<SampleUser, "role" | "password"> & { readonly companyId?: string },
): SampleUser {
  return { email, name, companyId: null, ...rest };
}
