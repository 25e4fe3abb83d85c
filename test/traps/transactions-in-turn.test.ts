/** The guide's example of `settleWithin`, as it stands in docs/guides/inside-your-transaction.md. */
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";

it("the guide's settleWithin books every invoice once at the default concurrency", async () => {
  const guide = new URL("../../docs/guides/inside-your-transaction.md", import.meta.url);
  const blocks = (await readFile(guide, "utf8")).matchAll(/```ts\n(.*?)```/gs);
  const example = [...blocks]
    .map(([, code = ""]) => code)
    .find((code) => code.includes("inTransaction"));
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE invoice (id INTEGER PRIMARY KEY, booked INTEGER NOT NULL DEFAULT 0)");
  const hf = new Holdfast({ store: sqliteStore({ database: db }) });
  await hf.info();
  // Without the end of the guide's program, which works and closes.
  const plain = stripTypeScriptTypes(example!.slice(0, example!.indexOf("const worker =")));
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- what stands in the guide is what runs
  (new Function("db", "hf", plain) as (...args: readonly unknown[]) => void)(db, hf);

  const ids = Array.from({ length: 20 }, (_, n) => n);
  const insert = db.prepare("INSERT INTO invoice (id) VALUES (?)");
  for (const id of ids) insert.run(id);
  const failed: string[] = [];
  hf.on("failed", ({ failure }) => void failed.push(failure.message));
  const receipts = await Promise.all(ids.map((id) => hf.enqueue("invoice.book", { id })));
  await hf.work();
  for (const receipt of receipts) {
    expect(await hf.waitFor(receipt)).toMatchObject({
      status: "succeeded",
      result: { booked: true },
    });
  }
  expect(failed).toEqual([]);
  expect(db.prepare("SELECT sum(booked) AS booked FROM invoice").get()).toEqual({ booked: 20 });
  await hf.close();
  db.close();
});
