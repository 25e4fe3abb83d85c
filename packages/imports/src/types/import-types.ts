/**
 * The import types that come with the package: `importTypes.customers({ target })`. Each is an ordinary
 * `defineImport`; for other fields, write your own.
 */
import { defineImport, type ImportDefinition, type ImportJobOptions } from "../define-import.ts";
import { checkOptions } from "../option-checks.ts";
import type { ImportTarget } from "../targets/target.ts";
import { amount, day, email, required, rowOfFields, text, whole, type Field } from "./fields.ts";

export interface BuiltInOptions {
  readonly target: ImportTarget;
  /** Added to those of the type. */
  readonly aliases?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly job?: ImportJobOptions | undefined;
}

interface BuiltIn {
  readonly key: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly aliases: Readonly<Record<string, readonly string[]>>;
}

const INVOICE = ["Invoice No", "Invoice #", "Invoice", "Inv No"];

const INVOICE_FIELDS = {
  ...{ invoiceDate: day(), dueDate: day(), amount: required(amount()) },
  ...{ currency: text(3), status: text(50), description: text(2_000) },
};

const BUILT_IN = {
  customers: {
    key: ["email"],
    fields: {
      ...{ email: required(email()), name: text(), company: text(), phone: text(50) },
      ...{ address: text(1_000), city: text(), country: text() },
    },
    aliases: {
      email: ["E-mail", "Email address", "Mail"],
      name: ["Customer", "Customer name", "Full name"],
      phone: ["Telephone", "Phone number"],
    },
  },
  ap: {
    key: ["invoiceNumber"],
    fields: { invoiceNumber: required(text(100)), vendor: required(text()), ...INVOICE_FIELDS },
    aliases: { invoiceNumber: INVOICE, vendor: ["Vendor name", "Supplier"], amount: ["Total"] },
  },
  ar: {
    key: ["invoiceNumber"],
    fields: { invoiceNumber: required(text(100)), customer: required(text()), ...INVOICE_FIELDS },
    aliases: { invoiceNumber: INVOICE, customer: ["Customer name", "Client"], amount: ["Total"] },
  },
  budgetForecast: {
    key: ["year", "category", "department"],
    fields: {
      ...{ year: required(whole(1900, 2200)), category: required(text()) },
      ...{ department: required(text()), budget: amount(), forecast: amount(), actual: amount() },
    },
    aliases: { year: ["Fiscal year", "FY"], department: ["Dept", "Cost centre", "Cost center"] },
  },
  vendors: {
    key: ["vendorId"],
    fields: {
      ...{ vendorId: required(text(100)), name: required(text()), email: email() },
      ...{ phone: text(50), taxId: text(100), address: text(1_000), country: text() },
    },
    aliases: {
      vendorId: ["Vendor No", "Vendor #", "Supplier ID", "Supplier No"],
      name: ["Vendor", "Vendor name", "Supplier"],
      taxId: ["VAT", "VAT ID", "Tax number"],
    },
  },
  transactions: {
    key: ["transactionId"],
    fields: {
      ...{ transactionId: required(text(100)), date: required(day()), amount: required(amount()) },
      ...{ currency: text(3), account: text(), category: text(), description: text(2_000) },
    },
    aliases: {
      transactionId: ["Transaction No", "Transaction #", "Reference"],
      date: ["Transaction date", "Booked", "Booking date"],
    },
  },
} as const satisfies Readonly<Record<string, BuiltIn>>;

export type BuiltInName = keyof typeof BUILT_IN;

export const BUILT_IN_NAMES = Object.keys(BUILT_IN) as readonly BuiltInName[];

export const importTypes = Object.fromEntries(
  BUILT_IN_NAMES.map((type) => [type, (options: BuiltInOptions) => make(type, options)]),
) as Readonly<Record<BuiltInName, (options: BuiltInOptions) => ImportDefinition>>;

function make(type: BuiltInName, options: BuiltInOptions): ImportDefinition {
  checkOptions(`importTypes.${type}`, options, ["target", "aliases", "job"]);
  const { key, fields, aliases }: BuiltIn = BUILT_IN[type];
  const { target, aliases: more = {}, job } = options;
  const names = [...new Set([...Object.keys(aliases), ...Object.keys(more)])];
  return defineImport<Record<string, unknown>>({
    ...{ type, key, target, job, schema: rowOfFields<Record<string, unknown>>(fields) },
    aliases: Object.fromEntries(
      names.map((name) => [name, [...(aliases[name] ?? []), ...(more[name] ?? [])]]),
    ),
  });
}
