/** The program that enqueues and the program that runs, on one file. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { sendEmail } from "./contract-jobs.ts";
import { startWorker } from "./contract-worker.ts";

const store = sqliteStore({ file: "jobs.db" });

if (process.argv[2] === "worker") {
  const worker = await startWorker(store);
  process.once("disconnect", async () => {
    await worker.stop();
    await store.close();
  });
} else {
  const other = fork(new URL(import.meta.url), ["worker"]);
  const hf = new Holdfast({ store, jobs: [sendEmail] });
  const receipt = await hf.enqueue(sendEmail, { to: "a@example.com", subject: "hi" });
  const done = await hf.waitFor(receipt, { timeoutMs: 30_000 });
  assert.equal(done.status, "succeeded");
  assert.match((await hf.job(receipt.id))?.worker ?? "", new RegExp(`:${other.pid}:`));

  const ended = once(other, "exit");
  other.disconnect();
  assert.deepEqual(await ended, [0, null]);
  await hf.close();
  console.log("ok");
}
