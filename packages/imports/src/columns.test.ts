import { describe, expect, it } from "vitest";
import { columnsOf, rowOf, type ColumnRules } from "./columns.ts";
import { ImportRejectedError } from "./errors.ts";

const RULES: ColumnRules = {
  fields: { names: ["invoiceNumber", "vendor", "amount"], takesOthers: false },
  aliases: { invoiceNumber: ["Invoice No.", "Inv #"] },
  keyFields: ["invoiceNumber"],
};

describe("headers become fields", () => {
  it("by name, whatever its spelling, and by alias", () => {
    for (const header of [
      "invoiceNumber",
      "Invoice Number",
      "INVOICE_NUMBER",
      "invoice no",
      "inv #",
    ]) {
      expect(columnsOf([header, "Vendor"], RULES).fields).toEqual(["invoiceNumber", "vendor"]);
    }
  });

  it("that the schema does not know are left out, and named", () => {
    const { fields, ignored } = columnsOf(["Inv #", "Colour", ""], RULES);
    expect(fields).toEqual(["invoiceNumber", null, null]);
    expect(ignored).toEqual(["Colour"]);
  });

  it("in camel case where the schema tells nothing", () => {
    const rules = { fields: null, aliases: {}, keyFields: [] };
    expect(columnsOf(["First name", "e-mail", "Größe", "already_so", "2nd"], rules).fields).toEqual(
      ["firstName", "eMail", "größe", "already_so", "_2nd"],
    );
    expect(columnsOf(["__proto__", "constructor"], rules).fields).toEqual([null, null]);
  });

  it("never twice", () => {
    expect(() => columnsOf(["Inv #", "Invoice No"], RULES)).toThrow(
      expect.objectContaining({ reason: "doubled-header", place: "Invoice No" }) as Error,
    );
  });

  it("and those of the key must be there", () => {
    expect(() => columnsOf(["Vendor", "Invoice Numbr"], RULES)).toThrow(ImportRejectedError);
    expect(() => columnsOf(["Vendor", "Invoice Numbr"], RULES)).toThrow(/is it "Invoice Numbr"\?/);
  });
});

it("an empty cell is no field of its row", () => {
  const columns = columnsOf(["Inv #", "Vendor", "Amount"], RULES);
  expect(rowOf([" A-1 ", "  ", null], columns)).toEqual({ invoiceNumber: "A-1" });
  expect(rowOf(["A-1", "Ann", 0], columns)).toEqual({
    invoiceNumber: "A-1",
    vendor: "Ann",
    amount: 0,
  });
});
