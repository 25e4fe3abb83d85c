/** Names of tables and columns in SQL, always in quotes: a header never becomes a piece of a statement. */
import { InvalidOptionError } from "holdfast";

export type ColumnNames = Readonly<Record<string, string>> | ((field: string) => string);

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `customers`, `billing.customers`. */
export function checkTable(table: unknown): readonly string[] {
  const parts = typeof table === "string" ? table.split(".") : [];
  // oxlint-disable-next-line no-control-regex -- the one that no database takes
  const isName = parts.length >= 1 && parts.length <= 2 && !/\u0000/.test(String(table));
  if (isName && parts.every((part) => part !== "" && part.length <= 63)) return parts;
  throw new InvalidOptionError('table is the name of a table: "customers", "billing.customers"');
}

export function columnNamer(columns: unknown): (field: string) => string {
  if (columns === undefined) return (field) => field;
  if (typeof columns === "function") return columns as (field: string) => string;
  if (typeof columns === "object" && columns !== null && !Array.isArray(columns)) {
    const names = new Map(Object.entries(columns as Readonly<Record<string, string>>));
    return (field) => names.get(field) ?? field;
  }
  throw new InvalidOptionError(
    'columns says which column a field goes to: { invoiceNumber: "invoice_number" }, or a function',
  );
}
