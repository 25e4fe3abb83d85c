/** Morning: a spreadsheet comes in, and the process that reads it is killed between two batches. */
import { expect } from "vitest";
import { csv, upload } from "../spreadsheets.ts";
import { bookingsSheet } from "./bookings.ts";
import type { Chapter } from "./day.ts";

export const morningImports: Chapter = {
  claim:
    "an import goes on behind its last batch when its process is killed, and no row is lost or written twice",
  async tell(day) {
    const { cells, good } = bookingsSheet(day.rows);
    const first = await day.comes({ release: 1, standAt: { point: "import", nth: 3 } });
    const early = day.at(first);
    await day.note(early, "Good morning");
    const file = { name: "Transactions.csv", content: csv(cells) };
    const bookings = day.took(await upload(early, "staff", file));
    await first.stands("import");
    // It will stand still at noon.
    const second = await day.comes({ release: 1, standAt: { point: "recalc", nth: 2 } });
    const office = day.at(second);
    // The caller saw nothing of it and sends the file again.
    expect((await upload(office, "staff", file)).status).toBe(409);
    const people = { name: "Customers.csv", content: "E-mail,Name\nday@example.com,Day\n" };
    const customers = day.took(await upload(office, "staff", people));
    await first.kill();
    expect(await day.resultOf(bookings)).toMatchObject({
      ...{ totalRows: day.rows, inserted: good, updated: 0, failed: day.rows - good },
    });
    expect(await day.resultOf(customers)).toMatchObject({ inserted: 1 });
    const rows = await day.data.find("transactions", {});
    const imported = rows.filter(({ transactionId }) => transactionId.startsWith("DAY-"));
    expect(imported).toHaveLength(good);
    day.front = second;
  },
};
