/** The spreadsheet of the morning, and what it must come to: made by arithmetic, the same every time. */
import type { Cells } from "../spreadsheets.ts";
import { SAMPLE_COMPANIES } from "../../../apps/backoffice/src/data/sample-companies.ts";

const HEADER = ["Transaction No", "Date", "Amount", "Category", "Company ID"];
/** Every so many rows one does not fit. */
const BAD_EVERY = 97;

export const COMPANIES = SAMPLE_COMPANIES.map(({ id }) => id);
/** Whatever was booked is in it. */
export const YEAR = { periodStart: "2026-01-01", periodEnd: "2026-12-31" };

export function bookingsSheet(rows: number): { readonly cells: Cells; readonly good: number } {
  const cells = Array.from({ length: rows }, (_, n) => {
    const month = String(1 + (n % 12)).padStart(2, "0");
    const day = String(1 + (n % 28)).padStart(2, "0");
    const amount = isBad(n) ? "a lot" : ((n % 2 === 0 ? 1 : -1) * (100 + n * 7)) / 100;
    const company = COMPANIES[n % COMPANIES.length] ?? "";
    return [`DAY-${n}`, `2026-${month}-${day}`, amount, n % 3 === 0 ? "sales" : "rent", company];
  });
  const good = cells.filter((_, n) => !isBad(n)).length;
  return { cells: [HEADER, ...cells], good };
}

function isBad(n: number): boolean {
  return n % BAD_EVERY === BAD_EVERY - 1;
}
