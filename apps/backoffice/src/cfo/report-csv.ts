/** A report as CSV: by RFC 4180, and a cell never begins as a formula would. */
import type { Row } from "../data/tables.ts";
import { linesOf } from "./bookkeeping.ts";

const END = "\r\n";

export function reportCsv(report: Row<"reports">, currency: string): string {
  const rows = linesOf(report).map(({ category, transactions, totalCents }) => [
    ...[cell(category), String(transactions), (totalCents / 100).toFixed(2), cell(currency)],
  ]);
  return [["category", "transactions", "total", "currency"], ...rows]
    .map((row) => row.join(",") + END)
    .join("");
}

function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
