/**
 * The tables of the business, said once: migrations, the three databases and the types of rows are made from this.
 * Names of fields are names of columns as they are, so that a spreadsheet's fields need no mapping. Rows that come
 * from a spreadsheet may lack a company: then `companyId` is null, and they count for none.
 */
export type ColumnKind = "text" | "number" | "whole";

export interface TableSpec {
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** What makes a row the same row; `put` replaces by it. */
  readonly key: readonly string[];
  /** Columns that are never null, beside those of the key. */
  readonly required?: readonly string[];
  /** Further columns that no two rows share. */
  readonly unique?: readonly (readonly string[])[];
  /** What is looked for. */
  readonly indexes?: readonly (readonly string[])[];
}

const INVOICE = {
  invoiceNumber: "text",
  companyId: "text",
  invoiceDate: "text",
  dueDate: "text",
  amount: "number",
  currency: "text",
  status: "text",
  description: "text",
} as const;

export const TABLES = {
  companies: {
    columns: { id: "text", name: "text", currency: "text", email: "text" },
    key: ["id"],
    required: ["name", "currency"],
  },
  users: {
    columns: {
      ...{ id: "text", email: "text", name: "text", role: "text", companyId: "text" },
      ...{ passwordHash: "text", createdAt: "text" },
    },
    key: ["id"],
    required: ["email", "name", "role", "passwordHash", "createdAt"],
    unique: [["email"]],
  },
  transactions: {
    columns: {
      ...{ transactionId: "text", companyId: "text", date: "text", amount: "number" },
      ...{ currency: "text", account: "text", category: "text", description: "text" },
    },
    key: ["transactionId"],
    required: ["date", "amount"],
    indexes: [["companyId", "date"]],
  },
  customers: {
    columns: {
      ...{ email: "text", companyId: "text", name: "text", company: "text", phone: "text" },
      ...{ address: "text", city: "text", country: "text" },
    },
    key: ["email"],
    indexes: [["companyId"]],
  },
  payables: {
    columns: { ...INVOICE, vendor: "text" },
    key: ["invoiceNumber"],
    required: ["vendor", "amount"],
    indexes: [["companyId"]],
  },
  receivables: {
    columns: { ...INVOICE, customer: "text" },
    key: ["invoiceNumber"],
    required: ["customer", "amount"],
    indexes: [["companyId"]],
  },
  budgets: {
    columns: {
      ...{ year: "whole", category: "text", department: "text", companyId: "text" },
      ...{ budget: "number", forecast: "number", actual: "number" },
    },
    key: ["year", "category", "department"],
    indexes: [["companyId"]],
  },
  vendors: {
    columns: {
      ...{ vendorId: "text", companyId: "text", name: "text", email: "text", phone: "text" },
      ...{ taxId: "text", address: "text", country: "text" },
    },
    key: ["vendorId"],
    required: ["name"],
    indexes: [["companyId"]],
  },
  members: {
    columns: {
      ...{ id: "text", companyId: "text", email: "text", firstName: "text", lastName: "text" },
      ...{ phone: "text", tier: "text", status: "text", joinedAt: "text", updatedAt: "text" },
    },
    key: ["id"],
    required: ["companyId", "email", "tier", "status", "updatedAt"],
    unique: [["email"]],
    indexes: [["companyId"]],
  },
  payments: {
    columns: {
      ...{ id: "text", companyId: "text", memberId: "text", email: "text", kind: "text" },
      ...{ amount: "number", currency: "text", description: "text", createdAt: "text" },
    },
    key: ["id"],
    required: ["companyId", "email", "kind", "amount", "currency", "createdAt"],
    indexes: [["companyId"], ["memberId"]],
  },
  snapshots: {
    columns: {
      ...{ companyId: "text", month: "text", revenueCents: "whole", expenseCents: "whole" },
      ...{ balanceCents: "whole", transactions: "whole", computedAt: "text" },
    },
    key: ["companyId", "month"],
    required: ["revenueCents", "expenseCents", "balanceCents", "transactions", "computedAt"],
  },
  reports: {
    columns: {
      ...{ id: "text", companyId: "text", periodStart: "text", periodEnd: "text" },
      ...{ lines: "text", createdAt: "text" },
    },
    key: ["companyId", "periodStart", "periodEnd"],
    required: ["id", "lines", "createdAt"],
    unique: [["id"]],
  },
  insights: {
    columns: {
      ...{ companyId: "text", day: "text", rule: "text", severity: "text", text: "text" },
      ...{ provider: "text", createdAt: "text" },
    },
    key: ["companyId", "day", "rule"],
    required: ["severity", "text", "provider", "createdAt"],
  },
  outbox: {
    columns: {
      ...{ id: "text", companyId: "text", recipient: "text", subject: "text", body: "text" },
      ...{ createdAt: "text", sentAt: "text", via: "text" },
    },
    key: ["id"],
    required: ["recipient", "subject", "body", "createdAt"],
    indexes: [["createdAt"]],
  },
} as const satisfies Readonly<Record<string, TableSpec>>;

export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

type Columns<Name extends TableName> = (typeof TABLES)[Name]["columns"];
type Firm<Name extends TableName> =
  | (typeof TABLES)[Name]["key"][number]
  | ((typeof TABLES)[Name] extends { readonly required: readonly (infer Field)[] } ? Field : never);
type ValueOf<Kind> = Kind extends "text" ? string : number;

/** A row as it is read: every column is there, null where it has nothing. */
export type Row<Name extends TableName> = {
  readonly [Field in keyof Columns<Name>]: Field extends Firm<Name>
    ? ValueOf<Columns<Name>[Field]>
    : ValueOf<Columns<Name>[Field]> | null;
};

/** A row as it is written: what may be null may be left out. */
export type NewRow<Name extends TableName> = {
  readonly [Field in keyof Columns<Name> as Field extends Firm<Name> ? Field : never]: ValueOf<
    Columns<Name>[Field]
  >;
} & {
  readonly [Field in keyof Columns<Name> as Field extends Firm<Name> ? never : Field]?:
    ValueOf<Columns<Name>[Field]> | null | undefined;
};

export function specOf(table: TableName): TableSpec {
  return TABLES[table];
}

export function columnsOf(table: TableName): readonly string[] {
  return Object.keys(TABLES[table].columns);
}

/** What may never be null: the key, and what is required. */
export function firmOf(table: TableName): ReadonlySet<string> {
  const { key, required = [] } = specOf(table);
  return new Set([...key, ...required]);
}
