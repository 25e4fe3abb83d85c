import { describe, expect, it } from "vitest";
import { judgeRow } from "../schema/row-schema.ts";
import { emptyTarget } from "../targets/empty-target.ts";
import { BUILT_IN_NAMES, importTypes, type BuiltInName } from "./import-types.ts";

const KEYS: Readonly<Record<BuiltInName, readonly string[]>> = {
  customers: ["email"],
  ap: ["invoiceNumber"],
  ar: ["invoiceNumber"],
  budgetForecast: ["year", "category", "department"],
  vendors: ["vendorId"],
  transactions: ["transactionId"],
};

describe("the built-in types", () => {
  it("have the names and keys that handlers of old have", () => {
    for (const name of BUILT_IN_NAMES) {
      const { type, jobType, keyFields } = importTypes[name]({ target: emptyTarget() });
      expect([type, jobType, keyFields]).toEqual([name, `import.xlsx.${name}`, KEYS[name]]);
    }
  });

  it("read numbers and dates however a file has them", () => {
    const { schema } = importTypes.ap({ target: emptyTarget() });
    const row = {
      invoiceNumber: 4711,
      vendor: "Ann",
      amount: "12.50",
      dueDate: "2026-02-28T00:00:00",
    };
    expect(judgeRow(schema, row)).toEqual({
      row: { invoiceNumber: "4711", vendor: "Ann", amount: 12.5, dueDate: "2026-02-28" },
    });
  });

  it.each([
    ["amount", "12,50 €"],
    ["dueDate", "2026-02-30"],
    ["dueDate", "28.02.2026"],
    ["currency", "EURO"],
    ["vendor", undefined],
  ])("refuse %s: %s", (field, value) => {
    const { schema } = importTypes.ap({ target: emptyTarget() });
    const row = { invoiceNumber: "1", vendor: "Ann", amount: 1, [field]: value };
    expect(judgeRow(schema, row)).toEqual({ reason: expect.stringContaining(field) as string });
  });

  it("know one mailbox, however it is spelt", () => {
    const { schema, keyOf } = importTypes.customers({ target: emptyTarget() });
    const judged = judgeRow(schema, { email: "Ann@Example.com" }) as { row: object };
    expect(keyOf(judged.row)).toEqual({ email: "ann@example.com" });
  });
});
