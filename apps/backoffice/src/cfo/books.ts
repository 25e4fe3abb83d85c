/** The arithmetic of the books, in whole cents: pure, so that a test can do it again and compare. */
import { createHash } from "node:crypto";
import type { Row } from "../data/tables.ts";

type Booking = Pick<Row<"transactions">, "transactionId" | "date" | "amount" | "category">;

const LAST_DAY = "9999-12-31";

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
    const name = category ?? "uncategorised";
    lines.set(name, withBooking(lines.get(name) ?? noLine(name), amount));
  }
  const sorted = [...lines.values()].sort((a, b) => a.category.localeCompare(b.category));
  // Not under its name in the same map: a category may be called "total".
  const total = bookings.reduce((sum, { amount }) => withBooking(sum, amount), noLine("total"));
  return [...sorted, total];
}

function noLine(category: string): ReportLine {
  return { category, transactions: 0, totalCents: 0 };
}

function withBooking({ category, transactions, totalCents }: ReportLine, amount: number) {
  return { category, transactions: transactions + 1, totalCents: totalCents + centsOf(amount) };
}

/** Stands for the data that a job is about: equal exactly if no booking was added, changed or removed. */
export function dataHashOf(bookings: readonly Booking[]): string {
  const hash = createHash("sha256");
  for (const { transactionId, date, amount, category } of bookings) {
    hash.update(JSON.stringify([transactionId, date, centsOf(amount), category]));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Null after the last one that can be written: all others come before it. */
export function dayAfter(date: string): string | null {
  if (date === LAST_DAY) return null;
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
