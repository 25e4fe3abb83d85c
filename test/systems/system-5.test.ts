/** System 5's job fields as its endpoint shows them, and its import handler as its text prints it. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Joi from "joi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BaseImportHandler, openImports, sqliteTarget, type ImportTarget } from "@holdfast/imports";
import { classic } from "@holdfast/server/classic";
import { Holdfast } from "holdfast";
import { optionsFromEnv } from "holdfast/env";
import { memoryStore } from "holdfast/memory";
import { serve, type Served } from "../server/served.ts";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe("a job of system 5", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve("sqlite", {
      enqueue: "any",
      mounts: [classic({ anonymous: "operator" })],
    });
  });
  afterAll(() => served?.close());

  const seen = async (id: string) => {
    const { json } = await served.call("GET", `/api/v1/queue/${id}`, { token: null });
    return json as Record<string, unknown>;
  };

  it("shows status, priority, availableAt, lockedAt, lockOwner, visibilityTimeoutMs and attempts, with its defaults", async () => {
    const { hf } = served;
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    hf.define({
      type: "import.ap",
      async run() {
        entered.resolve();
        await leave.promise;
        return "done";
      },
    });
    const { id } = await hf.enqueue("import.ap" as never, {} as never);
    const waiting = await seen(id);
    expect(waiting).toMatchObject({
      ...{ status: "queued", priority: 100, attempts: 0, maxAttempts: 5 },
      ...{ lockedAt: null, lockOwner: null },
    });
    expect(new Date(String(waiting["availableAt"])).getTime()).toBeLessThanOrEqual(Date.now());
    const { work } = optionsFromEnv({ QUEUE_VISIBILITY_MS: "30000", QUEUE_HEARTBEAT_MS: "10000" });
    const worker = await hf.work({ ...work, queues: ["default"] });
    await entered.promise;
    const running = await seen(id);
    expect(running).toMatchObject({ status: "processing", lockOwner: worker.id });
    expect(running["lockedAt"]).toEqual(expect.any(String));
    // A renewal moves the end of a lease, and not its beginning.
    expect(running["visibilityTimeoutMs"]).toBeGreaterThanOrEqual(30_000);
    leave.resolve();
    await hf.waitFor(id);
    await expect.poll(async () => (await seen(id))["status"]).toBe("succeeded");
    expect(await seen(id)).toMatchObject({ attempts: 1, lockOwner: null, result: "done" });
    await worker.stop();
  });

  it("is due later by availableAt while it waits for its retry", async () => {
    const { hf } = served;
    const failed = new Promise((resolve) => void hf.on("failed", resolve));
    hf.define({
      ...{ type: "import.budget", retry: { baseMs: 60_000, jitter: 0 } },
      run: () => Promise.reject(new Error("not today")),
    });
    const worker = await hf.work({ queues: ["default"] });
    const { id } = await hf.enqueue("import.budget" as never, {} as never);
    await failed;
    await expect.poll(async () => (await seen(id))["status"]).toBe("queued");
    const { availableAt, attempts, error } = await seen(id);
    expect([attempts, error]).toEqual([1, "not today"]);
    expect(new Date(String(availableAt)).getTime()).toBeGreaterThan(Date.now() + 30_000);
    await worker.stop();
  });
});

interface ApDocument {
  readonly invoiceNumber: string;
  readonly vendor: string;
}
const apSchema = Joi.object<ApDocument>({
  invoiceNumber: Joi.string().required(),
  vendor: Joi.string().required(),
});

class ImportApHandler extends BaseImportHandler<ApDocument> {
  protected readonly importType = "ap";
  protected readonly schema = apSchema;

  // oxlint-disable-next-line typescript/no-explicit-any -- as the text prints it
  protected getUpsertFilter(row: any) {
    return { invoiceNumber: row.invoiceNumber };
  }
}

describe("an import handler of system 5", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-system-5-"));
    await mkdir(join(folder, "inbox"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("writes 100 rows a batch, counts inserted, updated and failed, and says why a row failed", async () => {
    const file = join(folder, "app.db");
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA journal_mode = WAL; CREATE TABLE ap ("invoiceNumber" PRIMARY KEY, vendor);
      INSERT INTO ap VALUES ('A-7', 'Old')`);
    const sizes: number[] = [];
    const inner = sqliteTarget({ file, table: "ap" });
    const target: ImportTarget = {
      ...{
        name: inner.name,
        prepare: (keys) => inner.prepare(keys),
        begin: (at) => inner.begin(at),
      },
      write(batch) {
        sizes.push(batch.rows.length + batch.failures.length);
        return inner.write(batch);
      },
      ...{ finish: (ending) => inner.finish(ending), existing: (keys) => inner.existing(keys) },
      ...{ failures: (job, limit) => inner.failures(job, limit), close: () => inner.close() },
    };
    const rows = Array.from({ length: 250 }, (_, at) => `A-${at},${at === 9 ? "" : "Ann"}`);
    const csv = `Invoice Number,Vendor\n${rows.join("\n")}\n`;
    await writeFile(join(folder, "inbox", "Accounts-Payable.csv"), csv);
    const manifest = join(folder, "import-manifest.json");
    await writeFile(manifest, JSON.stringify({ "Accounts-Payable.csv": { type: "ap" } }));
    const hf = new Holdfast({ store: memoryStore(), logger }) as Holdfast;
    const imports = await openImports(hf, {
      ...{ inbox: join(folder, "inbox"), manifest, types: [new ImportApHandler({ target })] },
    });
    const worker = await hf.work({ queues: ["imports"] });
    const { id } = await imports.submit("Accounts-Payable.csv");
    const done = await hf.waitFor(id, { timeoutMs: 20_000 });
    expect(done).toMatchObject({
      ...{ status: "succeeded" },
      result: { totalRows: 250, inserted: 248, updated: 1, failed: 1 },
    });
    const { errors } = (done as { result: { errors: { row: number; reason: string }[] } }).result;
    expect(errors).toEqual([{ row: 11, reason: expect.stringContaining("vendor") as string }]);
    expect(sizes).toEqual([100, 100, 50]);
    expect(db.prepare("SELECT vendor FROM ap WHERE \"invoiceNumber\" = 'A-7'").get()).toEqual({
      vendor: "Ann",
    });
    await worker.stop();
    await hf.close();
    await imports.close();
    db.close();
  });
});
