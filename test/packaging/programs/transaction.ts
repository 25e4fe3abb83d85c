/** Inside the caller's own transaction: the job exists exactly if the data does. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { z } from "zod";

const db = new DatabaseSync("app.db");
db.exec("CREATE TABLE invoice (id INTEGER PRIMARY KEY, sent INTEGER NOT NULL DEFAULT 0)");
const hf = new Holdfast({ store: sqliteStore({ database: db }) });
await hf.info(); // opens the store: that writes its tables, which an open transaction would hinder

hf.define({
  type: "invoice.send",
  payload: z.object({ id: z.number() }),
  async run(job) {
    db.exec("BEGIN IMMEDIATE");
    db.prepare("UPDATE invoice SET sent = 1 WHERE id = ?").run(job.payload.id);
    await job.settleWithin(db, { result: { sent: job.payload.id } });
    db.exec("COMMIT");
  },
});

async function order(id: number, end: "COMMIT" | "ROLLBACK") {
  db.exec("BEGIN IMMEDIATE");
  db.prepare("INSERT INTO invoice (id) VALUES (?)").run(id);
  const receipt = await hf.within(db).enqueue("invoice.send", { id });
  db.exec(end);
  return receipt;
}

const kept = await order(1, "COMMIT");
const undone = await order(2, "ROLLBACK");
assert.equal(await hf.job(undone.id), null);

const worker = await hf.work();
const done = await hf.waitFor(kept, { timeoutMs: 10_000 });
assert.equal(done.status, "succeeded");
assert.deepEqual(
  db
    .prepare("SELECT id, sent FROM invoice")
    .all()
    .map((row) => ({ ...row })),
  [{ id: 1, sent: 1 }],
);

await worker.stop();
await hf.close();
db.close();
console.log("ok");
