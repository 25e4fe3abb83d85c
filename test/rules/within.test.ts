import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  Holdfast,
  NotInTransactionError,
  PermanentError,
  type RunningJob,
  TransactionOpenError,
  UnsupportedError,
} from "../../packages/holdfast/src/index.ts";
import type { Settlement, Store } from "../../packages/holdfast/src/core/store.ts";
import { openWorld } from "./world.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";

describe("inside the caller's transaction on sqlite", () => {
  let folder: string;
  let file: string;
  let hf: Holdfast;
  let db: DatabaseSync;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-within-"));
    file = join(folder, "app.db");
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

  it("many jobs of one transaction travel in batches, one after the other", async () => {
    const plain = sqliteStore({ file });
    const sizes: number[] = [];
    let atOnce = 0;
    const within = (tx: unknown) => {
      const inner = plain.within!(tx);
      return {
        ...inner,
        async insert(...args: Parameters<typeof inner.insert>) {
          expect(++atOnce).toBe(1);
          sizes.push(args[0].length);
          const results = await inner.insert(...args);
          atOnce--;
          return results;
        },
      };
    };
    await using many = new Holdfast({ store: { ...plain, within } });
    await many.info();
    const items = Array.from({ length: 500 }, (_, n) => ({
      type: "t",
      queue: "q",
      payload: { n },
    }));
    db.exec("BEGIN IMMEDIATE");
    const answers = await many.within(db).enqueueAll(items);
    db.exec("COMMIT");
    expect(answers.map(({ status }) => status)).toEqual(items.map(() => "added"));
    expect(sizes.length).toBeLessThan(10);
    expect((await many.counts()).q?.ready).toBe(500);
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

  it("a handler that goes on after its rollback keeps its lease", async () => {
    const aborts: unknown[] = [];
    let attempts = 0;
    hf.define({
      type: "pay",
      retry: { maxAttempts: 2, delaysMs: [1] },
      async run(job) {
        attempts += 1;
        if (job.attempt > 1) return "second";
        job.signal.addEventListener("abort", () => aborts.push(job.signal.reason));
        db.exec("BEGIN IMMEDIATE");
        await job.settleWithin(db);
        db.exec("ROLLBACK");
        // Longer than its lease: only renewals keep it.
        await until(() => renewals >= 8);
        return "first";
      },
    });
    let renewals = 0;
    const renewing = setInterval(() => (renewals += 1), 100);
    const receipt = await hf.enqueue("pay", null);
    await hf.work({ leaseMs: 400, renewMs: 100 });
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded", result: "second" });
    clearInterval(renewing);
    expect({ aborts, attempts }).toEqual({ aborts: [], attempts: 2 });
    const job = (await hf.job(receipt.id))!;
    expect(job).toMatchObject({ attempts: 2, crashes: 0 });
    expect(job.history[0]!.message).toContain("did not commit");
  });

  it("a handler's own error after its rollback is the one that counts", async () => {
    hf.define({
      type: "pay",
      retry: { maxAttempts: 3, delaysMs: [1] },
      async run(job) {
        db.exec("BEGIN IMMEDIATE");
        try {
          await job.settleWithin(db);
          throw new PermanentError("card refused");
        } finally {
          db.exec("ROLLBACK");
        }
      },
    });
    const receipt = await hf.enqueue("pay", null);
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "dead", reason: "permanent" });
    const job = (await hf.job(receipt.id))!;
    expect(job).toMatchObject({ attempts: 1, error: { message: expect.stringMatching(/card/) } });
  });

  it("a connection that is closed before the handler ends changes nothing", async () => {
    const seen: string[] = [];
    for (const event of ["succeeded", "failed", "dead", "lost"] as const) {
      hf.on(event, ({ type }) => seen.push(`${type} ${event}`));
    }
    const withOwn = async (job: RunningJob, isCommitted: boolean) => {
      const own = new DatabaseSync(file);
      own.exec("BEGIN IMMEDIATE");
      await job.settleWithin(own);
      own.exec(isCommitted ? "COMMIT" : "ROLLBACK");
      own.close();
    };
    const once = { retry: { maxAttempts: 1 } };
    hf.define({ type: "kept", ...once, run: (job) => withOwn(job, true) });
    hf.define({ type: "undone", ...once, run: (job) => withOwn(job, false) });
    const kept = await hf.enqueue("kept", null);
    const undone = await hf.enqueue("undone", null);
    await hf.work({ concurrency: 1 });
    expect(await hf.waitFor(kept)).toMatchObject({ status: "succeeded" });
    expect(await hf.waitFor(undone)).toMatchObject({ status: "dead", reason: "failed" });
    await until(() => seen.length === 3);
    expect(seen.toSorted()).toEqual(["kept succeeded", "undone dead", "undone failed"]);
  });

  it("a job that another worker has by now is not said to have succeeded", async () => {
    const seen: string[] = [];
    for (const event of ["succeeded", "lost"] as const) hf.on(event, () => seen.push(event));
    const store = sqliteStore({ file });
    await store.open();
    hf.define({
      type: "pay",
      async run(job) {
        db.exec("BEGIN IMMEDIATE");
        await job.settleWithin(db);
        db.exec("ROLLBACK");
        // It is taken from this worker, and somebody else succeeds with it.
        const except: never[] = [];
        for (const { id: worker } of await hf.workers.list()) {
          await store.disown({ worker, queues: ["default"], except });
        }
        const queues = [{ queue: "default", limit: 1 }];
        const { jobs } = await store.lease({ worker: "w", leaseMs: 9_000, limit: 1, queues });
        const outcome = { kind: "succeed", result: null, resultDropped: false } as const;
        await store.settle(jobs.map((leased) => ({ ...leased, outcome })));
      },
    });
    const receipt = await hf.enqueue("pay", null);
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded" });
    await until(() => seen.length > 0);
    expect(seen).toEqual(["lost"]);
    await store.close();
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

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("inside the caller's transaction on memory", () => {
  it("a transaction that stays open for a minute decides when it ends, not before", async () => {
    const world = await openWorld("memory");
    let settlements: readonly Settlement[] = [];
    let isOpen = true;
    const seen: string[] = [];
    // Until it ends the row is the transaction's own: no reaper can have it.
    const link = (store: Store): Store => ({
      ...store,
      info: () => ({ ...store.info(), transactions: true }),
      reap: async () => [],
      within: () => ({
        insert: (jobs) => store.insert(jobs),
        settle: async (given) => ((settlements = given), given.map(() => "settled")),
        isOpen: () => isOpen,
      }),
    });
    const { hf: slow, said } = world.process({ link });
    for (const event of ["succeeded", "failed", "lost"] as const) {
      slow.on(event, () => seen.push(event));
    }
    slow.handle("pay", (job) => job.settleWithin({}));
    await slow.enqueue("pay", null, { queue: "default" });
    await slow.work({ queues: ["default"] });
    await world.advance(60_000);
    expect(seen).toEqual([]);
    expect(said.filter((line) => line.includes("still open"))).toHaveLength(1);
    await world.store.settle(settlements);
    isOpen = false;
    await world.advance(1_000);
    expect(seen).toEqual(["succeeded"]);
    await world.close();
  });

  it("a store without transactions says so", async () => {
    const hf = new Holdfast({ store: memoryStore() });
    expect(() => hf.within({})).toThrow(UnsupportedError);
    await hf.close();
  });
});
