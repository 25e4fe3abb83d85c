/** What is read from and written to the business's data for snapshots, reports and insights. */
import { randomUUID } from "node:crypto";
import { Inject, Injectable } from "@nestjs/common";
import { Data, type Rows } from "../data/data.ts";
import type { Row } from "../data/tables.ts";
import { dayAfter, monthTotals, noTotals, reportLines, type ReportLine } from "./books.ts";

export interface Period {
  readonly periodStart: string;
  readonly periodEnd: string;
}

@Injectable()
export class Bookkeeping {
  constructor(@Inject(Data) private readonly data: Data) {}

  company(companyId: string): Promise<Row<"companies"> | null> {
    return this.data.find("companies", { id: companyId }).then(([company]) => company ?? null);
  }

  transactions(companyId: string, period?: Partial<Period>): Promise<Row<"transactions">[]> {
    return bookingsOf(this.data, companyId, period);
  }

  /** All months, or one that was amended. Read and written in one transaction: no booking slips in between. */
  async snapshot(companyId: string, amendedMonth?: string): Promise<{ months: number }> {
    return this.data.transaction(async (tx) => {
      const period = amendedMonth === undefined ? {} : monthPeriod(amendedMonth);
      const bookings = await bookingsOf(tx, companyId, period);
      const totals = monthTotals(bookings);
      // A month whose last booking was removed is nothing, not what it was.
      const empty = amendedMonth !== undefined && totals.length === 0;
      const months = empty ? [noTotals(amendedMonth)] : totals;
      if (amendedMonth === undefined) await tx.remove("snapshots", { companyId });
      const computedAt = new Date().toISOString();
      await tx.put(
        "snapshots",
        months.map((one) => ({ companyId, ...one, computedAt })),
      );
      return { months: months.length };
    });
  }

  snapshots(companyId: string): Promise<Row<"snapshots">[]> {
    return this.data.find("snapshots", { companyId }, { orderBy: "month" });
  }

  /** Keeps its id when it is made again. */
  async report(companyId: string, period: Period): Promise<{ reportId: string; lines: number }> {
    return this.data.transaction(async (tx) => {
      const lines = reportLines(await bookingsOf(tx, companyId, period));
      const [before] = await tx.find("reports", { companyId, ...period });
      const id = before?.id ?? randomUUID();
      await tx.put("reports", [
        {
          ...{ id, companyId, ...period, lines: JSON.stringify(lines) },
          createdAt: new Date().toISOString(),
        },
      ]);
      return { reportId: id, lines: lines.length };
    });
  }

  reports(companyId: string): Promise<Row<"reports">[]> {
    return this.data.find("reports", { companyId }, { orderBy: "createdAt", newestFirst: true });
  }

  insights(companyId: string): Promise<Row<"insights">[]> {
    return this.data.find("insights", { companyId }, { orderBy: "day", newestFirst: true });
  }
}

export function linesOf({ lines }: Pick<Row<"reports">, "lines">): readonly ReportLine[] {
  return JSON.parse(lines) as readonly ReportLine[];
}

/** The months that a period touches, each whole. */
export function monthsOf({ periodStart, periodEnd }: Period): string[] {
  const months: string[] = [];
  const at = new Date(`${periodStart.slice(0, 7)}-01T00:00:00Z`);
  while (at.toISOString().slice(0, 7) <= periodEnd.slice(0, 7)) {
    months.push(at.toISOString().slice(0, 7));
    at.setUTCMonth(at.getUTCMonth() + 1);
  }
  return months;
}

function monthPeriod(month: string): Period {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  return { periodStart: `${month}-01`, periodEnd: last };
}

function bookingsOf(rows: Rows, companyId: string, period: Partial<Period> = {}) {
  const { periodStart, periodEnd } = period;
  const before = periodEnd === undefined ? undefined : dayAfter(periodEnd);
  const isBounded = periodStart !== undefined || before !== undefined;
  const date = isBounded ? { from: periodStart, before } : undefined;
  return rows.find("transactions", { companyId, ...(date && { date }) });
}
