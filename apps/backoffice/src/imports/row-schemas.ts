/** What a row of a spreadsheet is. Fields are the columns of the tables, so nothing is mapped. */
import { z } from "zod";

/** `companyId` names a company that is there; rows without one count for none. */
export type CompanyCheck = (companyId: string) => Promise<boolean>;

const text = (most: number) => z.coerce.string().max(most);
/** Numeric(16, 2) of PostgreSQL: what one database would round, none takes. */
const amount = z.coerce.number().min(-1e12).max(1e12).multipleOf(0.01);
/** A sheet's cell may be a day with a time. */
const day = z
  .string()
  .transform((given) => given.replace(/T[\d:.]+$/, ""))
  .pipe(z.iso.date());
const email = z.string().max(254).toLowerCase().pipe(z.email());
const year = z.coerce.number().int().min(1900).max(2200);

const invoice = {
  ...{ invoiceNumber: text(100), invoiceDate: day.optional(), dueDate: day.optional(), amount },
  ...{ currency: text(3).optional(), status: text(50).optional() },
  description: text(2_000).optional(),
};

const FIELDS = {
  ap: { ...invoice, vendor: text(500) },
  ar: { ...invoice, customer: text(500) },
  budgetForecast: {
    ...{ year, category: text(500), department: text(500), budget: amount.optional() },
    ...{ forecast: amount.optional(), actual: amount.optional() },
  },
  customers: {
    ...{ email, name: text(500).optional(), company: text(500).optional() },
    ...{ phone: text(50).optional(), address: text(1_000).optional() },
    ...{ city: text(500).optional(), country: text(500).optional() },
  },
  vendors: {
    ...{ vendorId: text(100), name: text(500), email: email.optional() },
    ...{ phone: text(50).optional(), taxId: text(100).optional() },
    ...{ address: text(1_000).optional(), country: text(500).optional() },
  },
  transactions: {
    ...{ transactionId: text(100), date: day, amount, currency: text(3).optional() },
    ...{ account: text(100).optional(), category: text(100).optional() },
    description: text(2_000).optional(),
  },
} as const;

export type ImportType = keyof typeof FIELDS;

export function rowSchema<Type extends ImportType>(type: Type, isCompany: CompanyCheck) {
  const companyId = text(64).refine(isCompany, "there is no such company").optional();
  return z.object({ ...FIELDS[type], companyId });
}

export type ImportRow<Type extends ImportType> = z.infer<ReturnType<typeof rowSchema<Type>>>;
