/** The sample: three companies and a year of small business, the same at every seeding. */
import type { NewRow } from "./tables.ts";

export const SAMPLE_COMPANIES: readonly NewRow<"companies">[] = [
  {
    ...{ id: "0b5a3c1e-2f6d-4c58-9a61-7d1f0c9e4a01", name: "Northwind Bakery" },
    ...{ currency: "EUR", email: "office@northwind.example" },
  },
  {
    ...{ id: "0b5a3c1e-2f6d-4c58-9a61-7d1f0c9e4a02", name: "Harbour Sailing Club" },
    ...{ currency: "EUR", email: "office@harbour.example" },
  },
  {
    ...{ id: "0b5a3c1e-2f6d-4c58-9a61-7d1f0c9e4a03", name: "Lighthouse Books" },
    ...{ currency: "USD", email: "office@lighthouse.example" },
  },
];

const MONTHS = 10;
const YEAR = 2026;
const INCOME = ["sales", "subscriptions", "services"] as const;
const COSTS = ["rent", "wages", "supplies", "energy", "insurance"] as const;

/** Small and the same everywhere: a linear congruential generator (numbers of Park and Miller). */
export function sampleNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

export function sampleTransactions(): NewRow<"transactions">[] {
  const random = sampleNumbers(2_026);
  return SAMPLE_COMPANIES.flatMap(({ id, currency }, company) =>
    Array.from({ length: MONTHS }, (_, month) =>
      [...INCOME, ...COSTS].map((category, line): NewRow<"transactions"> => {
        const isIncome = line < INCOME.length;
        const size = (isIncome ? 2_500 : 900) * (company + 1) * (0.5 + random());
        const day = 1 + Math.floor(random() * 28);
        return {
          transactionId: `T-${company + 1}-${YEAR}${two(month + 1)}-${two(line + 1)}`,
          ...{ companyId: id, date: `${YEAR}-${two(month + 1)}-${two(day)}`, currency },
          amount: Math.round((isIncome ? size : -size) * 100) / 100,
          ...{ account: isIncome ? "4000" : "6000", category, description: `Sample ${category}` },
        };
      }),
    ).flat(),
  );
}

const PEOPLE = [
  ...["Ada Byron", "Blaise Nord", "Clara West", "Dorian Fels", "Edith Moor", "Felix Hart"],
  ...["Grete Lind", "Hugo Stein", "Ines Falk"],
];
const TIERS = ["basic", "plus", "premium"];

export function samplePeople(): {
  readonly members: NewRow<"members">[];
  readonly customers: NewRow<"customers">[];
  readonly payments: NewRow<"payments">[];
} {
  const people = PEOPLE.map((name, index) => {
    const [firstName = "", lastName = ""] = name.split(" ");
    const company = SAMPLE_COMPANIES[index % SAMPLE_COMPANIES.length] as NewRow<"companies">;
    const email = `${firstName}.${lastName}@people.example`.toLowerCase();
    return { ...{ name, firstName, lastName, company, email, index } };
  });
  const at = `${YEAR}-01-15T09:00:00.000Z`;
  return {
    members: people.map(({ firstName, lastName, company, email, index }) => ({
      ...{ id: `M-${index + 1}`, companyId: company.id, email, firstName, lastName },
      ...{ tier: TIERS[index % TIERS.length] as string, status: "active" },
      ...{ joinedAt: at, updatedAt: at },
    })),
    customers: people.map(({ name, company, email }) => ({
      ...{ email, companyId: company.id, name, company: company.name, country: "Germany" },
    })),
    payments: people.map(({ company, email, index }) => ({
      ...{ id: `pi_sample_${index + 1}`, companyId: company.id, memberId: `M-${index + 1}` },
      ...{ email, kind: index % 3 === 0 ? "day_pass" : "payment", amount: 25 + index * 5 },
      ...{ currency: company.currency, description: "Sample fee", createdAt: at },
    })),
  };
}

export function sampleInvoices(): {
  readonly payables: NewRow<"payables">[];
  readonly receivables: NewRow<"receivables">[];
  readonly vendors: NewRow<"vendors">[];
  readonly budgets: NewRow<"budgets">[];
} {
  const each = <Made>(make: (company: NewRow<"companies">, index: number) => Made) =>
    SAMPLE_COMPANIES.map(make);
  const dates = { invoiceDate: `${YEAR}-09-01`, dueDate: `${YEAR}-10-01`, status: "open" };
  return {
    payables: each(({ id, currency }, index) => ({
      ...{ invoiceNumber: `AP-${index + 1}`, companyId: id, vendor: `Vendor ${index + 1}` },
      ...{ amount: 310 * (index + 1), currency, ...dates },
    })),
    receivables: each(({ id, currency }, index) => ({
      ...{ invoiceNumber: `AR-${index + 1}`, companyId: id, customer: PEOPLE[index] as string },
      ...{ amount: 480 * (index + 1), currency, ...dates },
    })),
    vendors: each(({ id }, index) => ({
      ...{ vendorId: `V-${index + 1}`, companyId: id, name: `Vendor ${index + 1}` },
      ...{ email: `vendor${index + 1}@vendors.example`, country: "Germany" },
    })),
    budgets: each(({ id }, index) => ({
      ...{ year: YEAR, category: "supplies", department: `Department ${index + 1}` },
      ...{ companyId: id, budget: 12_000, forecast: 11_500, actual: 9_800 },
    })),
  };
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
