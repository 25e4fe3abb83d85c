import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  Holdfast,
  NotInTransactionError,
  TransactionOpenError,
  UnsupportedError,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";

describe("inside the caller's transaction on sqlite", () => {
  let folder: string;
  let hf: Holdfast;
  let db: DatabaseSync;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-within-"));
    const file = join(folder, "app.db");
    hf = new Holdfast({ store: sqliteStore({ file }) });
    await hf.info();
    db = new DatabaseSync(file);
    db.exec("CREATE TABLE invoice (id INTEGER PRIMARY KEY, paid_by INTEGER) STRICT");
  });
  afterEach(async () => {
    await hf.close();
    db.close();
    await rm(folder, { recursive: true, force: true });
  });
  const invoices = () => db.prepare("SELECT id FROM invoice").all().length;

  it("the job exists exactly if the data does", async () => {
    db.exec("BEGIN IMMEDIATE");
    db.exec("INSERT INTO invoice (id) VALUES (1)");
    const undone = await hf.within(db).enqueue("invoice.send", { id: 1 }, { queue: "mail" });
    db.exec("ROLLBACK");
    expect(await hf.job(undone.id)).toBeNull();

    db.exec("BEGIN IMMEDIATE");
    db.exec("INSERT INTO invoice (id) VALUES (1)");
    const done = await hf.within(db).enqueue("invoice.send", { id: 1 }, { queue: "mail" });
    db.exec("COMMIT");
    expect(await hf.job(done.id)).toMatchObject({ status: "queued" });
  });

  it("a handler's effect and its success commit together", async () => {
    hf.define({
      type: "pay",
      async run(job) {
        db.exec("BEGIN IMMEDIATE");
        db.exec("INSERT INTO invoice (id) VALUES (1)");
        await job.settleWithin(db, { result: { paid: 1 } });
        db.exec("COMMIT");
      },
    });
    const receipt = await hf.enqueue("pay", null);
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded", result: { paid: 1 } });
    expect(invoices()).toBe(1);
  });

  it("a settle inside a transaction that rolls back is a failed attempt", async () => {
    hf.define({
      type: "pay",
      retry: { maxAttempts: 2, delaysMs: [1] },
      async run(job) {
        db.exec("BEGIN IMMEDIATE");
        db.exec("INSERT INTO invoice (id) VALUES (1)");
        await job.settleWithin(db, { result: "paid" });
        db.exec(job.attempt === 1 ? "ROLLBACK" : "COMMIT");
      },
    });
    const receipt = await hf.enqueue("pay", null);
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded" });
    expect(await hf.job(receipt.id)).toMatchObject({
      attempts: 2,
      history: [{ outcome: "failed" }, { outcome: "succeeded" }],
    });
    expect((await hf.job(receipt.id))!.history[0]!.message).toContain("did not commit");
    expect(invoices()).toBe(1);
  });

  it("other writes of that handler get an error at once, not a deadlock", async () => {
    const errors: unknown[] = [];
    const note = (error: unknown) => void errors.push(error);
    hf.define({
      type: "pay",
      async run(job) {
        db.exec("BEGIN IMMEDIATE");
        await hf.within(db).enqueue("mail", null, { queue: "mail" });
        await job.step("charge", () => 1).catch(note);
        await job.save({ row: 1 }).catch(note);
        await hf.enqueue("mail", null, { queue: "mail" }).catch(note);
        db.exec("COMMIT");
        await job.step("after", () => 1);
      },
    });
    const receipt = await hf.enqueue("pay", null);
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded" });
    expect(errors).toHaveLength(3);
    expect(errors.every((error) => error instanceof TransactionOpenError)).toBe(true);
    expect((await hf.counts())["mail"]).toMatchObject({ ready: 1 });
  });

  it("what is not an open transaction is refused", async () => {
    await expect(hf.within(db).enqueue("x", null, { queue: "q" })).rejects.toThrow(
      NotInTransactionError,
    );
    await expect(hf.within({}).enqueue("x", null, { queue: "q" })).rejects.toThrow(
      NotInTransactionError,
    );
  });
});

describe("inside the caller's transaction on memory", () => {
  it("a store without transactions says so", async () => {
    const hf = new Holdfast({ store: memoryStore() });
    expect(() => hf.within({})).toThrow(UnsupportedError);
    await hf.close();
  });
});
