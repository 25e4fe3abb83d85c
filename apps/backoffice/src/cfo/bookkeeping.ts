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

  /** All months, or one that was amended. */
  async snapshot(companyId: string, amendedMonth?: string): Promise<{ months: number }> {
    return this.#inTurn(companyId, async (tx) => {
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
    return this.#inTurn(companyId, async (tx) => {
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

  /**
   * Read and written in one transaction, one after the other for each company. Jobs of several locks compute the same
   * month: where a transaction reads what others have committed since (PostgreSQL), one that had read before a booking
   * would write after one that had read it. So the company's row is taken first; nothing about it changes.
   */
  #inTurn<Result>(companyId: string, work: (tx: Rows) => Promise<Result>): Promise<Result> {
    return this.data.transaction(async (tx) => {
      await tx.change("companies", { id: companyId }, { id: companyId });
      return work(tx);
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
  const [first, last] = [monthNumber(periodStart), monthNumber(periodEnd)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => {
    const [year, month] = [Math.floor((first + at) / 12), ((first + at) % 12) + 1];
    return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
  });
}

/** Since the year 0: texts of months sort wrongly, and dates go astray, where years have not four digits. */
function monthNumber(date: string): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;
}

function monthPeriod(month: string): Period {
  const last = new Date(`${month}-01T00:00:00Z`);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return { periodStart: `${month}-01`, periodEnd: last.toISOString().slice(0, 10) };
}

function bookingsOf(rows: Rows, companyId: string, period: Partial<Period> = {}) {
  const { periodStart, periodEnd } = period;
  const before = periodEnd === undefined ? undefined : (dayAfter(periodEnd) ?? undefined);
  const isBounded = periodStart !== undefined || before !== undefined;
  const date = isBounded ? { from: periodStart, before } : undefined;
  return rows.find("transactions", { companyId, ...(date && { date }) });
}
