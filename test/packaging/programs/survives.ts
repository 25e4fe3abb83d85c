/** Work that survives its worker: steps that are never done twice, and a place to go on from. */
import assert from "node:assert/strict";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { z } from "zod";

const hf = new Holdfast({ store: sqliteStore({ file: "jobs.db" }) });
const retry = { maxAttempts: 3, baseMs: 1, jitter: 0 };

const charged: string[] = [];
const mailed: string[] = [];
async function pay(order: { order: string }) {
  charged.push(order.order);
  return { chargeId: `c-${order.order}` };
}
async function mail(charge: { chargeId: string }) {
  mailed.push(charge.chargeId);
  if (mailed.length === 1) throw new Error("the mail server is away");
}

const checkout = hf.define({
  type: "checkout",
  payload: z.object({ order: z.string() }),
  retry,
  async run(job) {
    const charge = await job.step("charge", () => pay(job.payload));
    await job.step("mail", () => mail(charge));
  },
});

const rows = Array.from({ length: 1_000 }, (_, index) => index);
const upserted: number[] = [];
async function upsert(some: number[]) {
  upserted.push(...some);
}

const importRows = hf.define({
  type: "rows.import",
  retry,
  async run(job) {
    for (let row = job.checkpoint?.row ?? 0; row < rows.length; row += 100) {
      if (row === 500 && job.attempt === 1) throw new Error("interrupted");
      await upsert(rows.slice(row, row + 100));
      await job.save({ row: row + 100 });
    }
  },
});

const worker = await hf.work({ queues: ["default"] });
const orders = await checkout.enqueue({ order: "o-1" });
const imports = await importRows.enqueue({});
assert.equal((await hf.waitFor(orders, { timeoutMs: 10_000 })).status, "succeeded");
assert.equal((await hf.waitFor(imports, { timeoutMs: 10_000 })).status, "succeeded");

assert.deepEqual(charged, ["o-1"]);
assert.deepEqual(mailed, ["c-o-1", "c-o-1"]);
assert.deepEqual(upserted, rows);
const job = await hf.job(orders.id);
assert.deepEqual(job?.steps, ["charge", "mail"]);

await worker.stop();
await hf.close();
console.log("ok");
