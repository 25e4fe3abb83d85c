/** The arithmetic of the books at its edges. */
import { expect, it } from "vitest";
import { Bookkeeping, monthsOf } from "../../apps/backoffice/src/cfo/bookkeeping.ts";
import { reportLines } from "../../apps/backoffice/src/cfo/books.ts";
import type { Data } from "../../apps/backoffice/src/data/data.ts";
import { SqliteData } from "../../apps/backoffice/src/data/sqlite-data.ts";
import { dataOfUrl } from "../../apps/backoffice/src/data/data-of-url.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";

const booking = (transactionId: string, date: string, amount: number, category: string | null) => ({
  ...{ transactionId, companyId: "c", date, amount, category, currency: "EUR" },
});
const company = { id: "c", name: "C", currency: "EUR" };

it("the last line of a report is the sum of the others, whatever categories are called", () => {
  const lines = reportLines([
    ...[booking("1", "2026-01-01", 10, "total"), booking("2", "2026-01-02", 5, "sales")],
    booking("3", "2026-01-03", -1, null),
  ]);
  expect(lines).toEqual([
    { category: "sales", transactions: 1, totalCents: 500 },
    { category: "total", transactions: 1, totalCents: 1_000 },
    { category: "uncategorised", transactions: 1, totalCents: -100 },
    { category: "total", transactions: 3, totalCents: 1_400 },
  ]);
});

it("a period ends with its last month, also in the first and the last year that can be written", () => {
  const months = (periodStart: string, periodEnd: string) => monthsOf({ periodStart, periodEnd });
  expect(months("2026-11-30", "2027-02-01")).toEqual(["2026-11", "2026-12", "2027-01", "2027-02"]);
  expect(months("9999-11-01", "9999-12-31")).toEqual(["9999-11", "9999-12"]);
  expect(months("0000-12-31", "0001-01-01")).toEqual(["0000-12", "0001-01"]);
});

it("a booking of the last day is in its month and in its report, and one of later years is not in an early month", async () => {
  const data = new SqliteData(":memory:");
  await data.migrate();
  await data.add("companies", [company]);
  await data.add("transactions", [
    ...[booking("1", "9999-12-31", 7, "x"), booking("2", "0050-05-31", 3, "x")],
    booking("3", "1950-05-31", 100, "x"),
  ]);
  const books = new Bookkeeping(data);
  expect(await books.snapshot("c", "9999-12")).toEqual({ months: 1 });
  expect(await books.snapshot("c", "0050-05")).toEqual({ months: 1 });
  expect(await data.find("snapshots")).toMatchObject([
    ...[
      { month: "0050-05", revenueCents: 300 },
      { month: "9999-12", revenueCents: 700 },
    ],
  ]);
  await books.report("c", { periodStart: "9999-12-01", periodEnd: "9999-12-31" });
  const [report] = await books.reports("c");
  expect(report?.lines).toContain('{"category":"total","transactions":1,"totalCents":700}');
  await data.close();
});

it("a snapshot that began before a booking does not end up over one that has counted it", async () => {
  const data = await dataOfUrl((await postgresDatabase()).url);
  try {
    await data.migrate();
    await data.add("companies", [company]);
    await data.add("transactions", [booking("1", "2026-05-01", 1, "x")]);
    const books = new Bookkeeping(data);
    const transaction = data.transaction.bind(data);
    let other: Promise<unknown> = Promise.resolve();
    data.transaction = (work) => {
      data.transaction = transaction;
      return transaction((tx) => {
        const find = tx.find.bind(tx);
        const late = async (...asked: Parameters<typeof find>) => {
          const rows = await find(...asked);
          await data.add("transactions", [booking("2", "2026-05-02", 2, "x")]);
          other = books.snapshot("c");
          await Promise.race([other, someoneWaits(data)]);
          return rows;
        };
        return work({ ...tx, find: late as typeof find });
      });
    };
    await books.snapshot("c", "2026-05");
    await other;
    expect(await data.find("snapshots")).toMatchObject([{ month: "2026-05", transactions: 2 }]);
  } finally {
    await data.close();
  }
});

/** For a row that another one has. */
async function someoneWaits(data: Data): Promise<void> {
  const { pool } = data.importPlace() as { pool: { query(sql: string): Promise<Waiting> } };
  for (;;) {
    const { rows } = await pool.query("SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted");
    if (rows[0]!.n > 0) return;
  }
}

interface Waiting {
  readonly rows: readonly { readonly n: number }[];
}
