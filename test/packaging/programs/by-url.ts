/** A store by its URL, and `await using` instead of stop and close. */
import assert from "node:assert/strict";
import { defineJob } from "holdfast";
import { connect } from "holdfast/connect";
import { z } from "zod";

const sendEmail = defineJob({
  type: "email.send",
  queue: "mail",
  payload: z.object({ to: z.string() }),
});

{
  await using hf = await connect(process.env.HOLDFAST_URL ?? "sqlite:holdfast.db", {
    jobs: [sendEmail],
  });
  hf.handle(sendEmail, async (job) => ({ greeted: job.payload.to }));
  await using worker = await hf.work({ queues: ["mail"] });
  assert.ok(worker);

  const receipt = await hf.enqueue("email.send", { to: "a@example.com" });
  const done = await hf.waitFor(receipt, { timeoutMs: 10_000 });
  assert.equal(done.status, "succeeded");
}
console.log("ok");
