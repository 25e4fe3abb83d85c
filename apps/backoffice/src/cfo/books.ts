/** The arithmetic of the books, in whole cents: pure, so that a test can do it again and compare. */
import { createHash } from "node:crypto";
import type { Row } from "../data/tables.ts";

type Booking = Pick<Row<"transactions">, "transactionId" | "date" | "amount" | "category">;

export interface MonthTotals {
  readonly month: string;
  readonly revenueCents: number;
  readonly expenseCents: number;
  readonly balanceCents: number;
  readonly transactions: number;
}

export function centsOf(amount: number): number {
  return Math.round(amount * 100);
}

export function monthOf(date: string): string {
  return date.slice(0, 7);
}

/** One for each month in which something was booked, oldest first. */
export function monthTotals(bookings: readonly Booking[]): MonthTotals[] {
  const months = new Map<string, MonthTotals>();
  for (const { date, amount } of bookings) {
    const month = monthOf(date);
    const before = months.get(month) ?? noTotals(month);
    months.set(month, plus(before, centsOf(amount)));
  }
  return [...months.values()].sort((a, b) => a.month.localeCompare(b.month));
}

export function noTotals(month: string): MonthTotals {
  return { month, revenueCents: 0, expenseCents: 0, balanceCents: 0, transactions: 0 };
}

function plus(before: MonthTotals, cents: number): MonthTotals {
  return {
    month: before.month,
    revenueCents: before.revenueCents + Math.max(0, cents),
    expenseCents: before.expenseCents + Math.max(0, -cents),
    balanceCents: before.balanceCents + cents,
    transactions: before.transactions + 1,
  };
}

export interface ReportLine {
  readonly category: string;
  readonly transactions: number;
  readonly totalCents: number;
}

/** By category, and a last line that is their sum. */
export function reportLines(bookings: readonly Booking[]): ReportLine[] {
  const lines = new Map<string, ReportLine>();
  for (const { category, amount } of bookings) {
    for (const name of [category ?? "uncategorised", "total"]) {
      const { transactions = 0, totalCents = 0 } = lines.get(name) ?? {};
      lines.set(name, {
        ...{ category: name, transactions: transactions + 1 },
        totalCents: totalCents + centsOf(amount),
      });
    }
  }
  const { total = { category: "total", transactions: 0, totalCents: 0 } } =
    Object.fromEntries(lines);
  lines.delete("total");
  const sorted = [...lines.values()].sort((a, b) => a.category.localeCompare(b.category));
  return [...sorted, total];
}

/** Stands for the data that a job is about: equal exactly if no booking was added, changed or removed. */
export function dataHashOf(bookings: readonly Booking[]): string {
  const hash = createHash("sha256");
  for (const { transactionId, date, amount, category } of bookings) {
    hash.update(JSON.stringify([transactionId, date, centsOf(amount), category]));
  }
  return hash.digest("hex").slice(0, 16);
}

export function dayAfter(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
