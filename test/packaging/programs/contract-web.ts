/** One contract, two sides: the one that enqueues. It has no handler; the other side runs beside it. */
import assert from "node:assert/strict";
import { Holdfast, PayloadValidationError } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { sendEmail } from "./contract-jobs.ts";
import { startWorker } from "./contract-worker.ts";

const store = sqliteStore({ file: "jobs.db" });
const hf = new Holdfast({ store, jobs: [sendEmail] });
const to = "a@example.com";
const subject = "hi";

const receipt = await hf.enqueue(sendEmail, { to, subject });
const results = await hf.enqueueAll([sendEmail.of({ to, subject }, { priority: 10 })]);
assert.equal(results[0]?.status, "added");

// The string form is typed and routed by `jobs`.
const byName = await hf.enqueue("email.send", { to, subject });

// @ts-expect-error: a payload without its subject
await assert.rejects(hf.enqueue(sendEmail, { to }), PayloadValidationError);

const worker = await startWorker(store);
for (const each of [receipt, byName]) {
  const done = await hf.waitFor(each, { timeoutMs: 10_000 });
  assert.equal(done.status, "succeeded");
  if (done.status === "succeeded") {
    const result: { messageId: string } | null = done.result;
    assert.deepEqual(result, { messageId: `to ${to}` });
  }
}
await worker.stop();
await hf.close();
console.log("ok");
