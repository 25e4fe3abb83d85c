/** In a user's tests: memory, virtual time, no waiting. */
import assert from "node:assert/strict";
import { defineJob } from "holdfast";
import { testHoldfast } from "holdfast/testing";
import { z } from "zod";

const sendEmail = defineJob({
  type: "email.send",
  queue: "mail",
  payload: z.object({ to: z.string(), subject: z.string() }),
});
const sent: string[] = [];

const t = testHoldfast();
t.hf.handle(sendEmail, async (job) => {
  sent.push(job.payload.to);
});
await t.hf.enqueue(sendEmail, { to: "a@example.com", subject: "hi" }, { delayMs: 3_600_000 });
await t.drain();
assert.deepEqual(sent, []);

const began = performance.now();
await t.advance(3_600_000);
await t.drain();
assert.deepEqual(sent, ["a@example.com"]);
assert.ok(performance.now() - began < 60_000, "an hour passes in less than an hour");

const [enqueued] = t.enqueued(sendEmail);
assert.deepEqual(enqueued?.payload, { to: "a@example.com", subject: "hi" });
await t.hf.close();
console.log("ok");
