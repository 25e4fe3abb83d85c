/** The front door from end to end: define, enqueue, work, wait, look, change, stop. */
import assert from "node:assert/strict";
import { Holdfast, PermanentError } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { z } from "zod";

const hf = new Holdfast({ store: sqliteStore({ file: "jobs.db" }) });

const sendEmail = hf.define({
  type: "email.send",
  queue: "mail",
  payload: z.object({ to: z.string(), subject: z.string() }),
  retry: { maxAttempts: 5, baseMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.2 },
  timeoutMs: 30_000,
  async run(job) {
    const seen: [string, string, string, number, number, number, AbortSignal] = [
      job.id,
      job.type,
      job.payload.to,
      job.attempt,
      job.maxAttempts,
      job.fence,
      job.signal,
    ];
    assert.equal(seen[1], "email.send");
    if (!job.payload.to.includes("@")) throw new PermanentError("not an address");
    await job.progress(50, "rendered");
    job.log("handed to the mail server");
    await job.spawn("email.track", { to: job.payload.to }, { queue: "mail" });
    return { messageId: "m-1" };
  },
});

const succeeded: string[] = [];
const dead: string[] = [];
hf.on("succeeded", (event) => succeeded.push(event.id));
hf.on("dead", (event) => dead.push(event.id));

const receipt = await sendEmail.enqueue({ to: "a@example.com", subject: "hi" });
const added: "added" | "duplicate" = receipt.status;
assert.equal(added, "added");
assert.match(receipt.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

const welcome = () =>
  hf.enqueue(
    "email.send",
    { to: "b@example.com", subject: "hi" },
    {
      priority: 10,
      delayMs: 5_000,
      idempotencyKey: "welcome:b@example.com",
      idempotencyTtlMs: 86_400_000,
      onDuplicate: "return",
      maxAttempts: 3,
      group: "tenant-7",
    },
  );
const first = await welcome();
const second = await welcome();
assert.equal(first.status, "added");
assert.equal(second.status, "duplicate");
assert.equal(second.id, first.id);

const results = await hf.enqueueAll([
  { type: "email.send", payload: { to: "c@example.com", subject: "hi" } },
  { type: "email.send", payload: { to: "nobody", subject: "hi" } },
]);
assert.equal(results.length, 2);

const worker = await hf.work({ queues: ["mail"], concurrency: 20 });

const done = await hf.waitFor(receipt, { timeoutMs: 10_000 });
assert.equal(done.status, "succeeded");
if (done.status === "succeeded") {
  const result: { messageId: string } | null = done.result;
  assert.deepEqual(result, { messageId: "m-1" });
}

const job = await hf.job(receipt.id);
assert.ok(job);
assert.equal(job.status, "succeeded");
assert.equal(job.attempts, 1);
assert.deepEqual(job.progress, { percent: 50, message: "rendered" });
assert.deepEqual(
  job.logs.map((line) => line.text),
  ["handed to the mail server"],
);

const refused = results[1];
assert.ok(refused && "id" in refused);
const refusal = await hf.waitFor(refused.id, { timeoutMs: 10_000 });
assert.equal(refusal.status, "dead");

const page = await hf.jobs({ status: "dead", type: "email.send", limit: 50 });
assert.deepEqual(
  page.jobs.map((one) => one.id),
  [refused.id],
);
assert.equal(page.nextCursor, null);

const counts = await hf.counts();
assert.equal(counts.mail?.succeeded, 2);
assert.equal(counts.mail?.dead, 1);

// It has succeeded: both are answers, not errors.
assert.equal(await hf.cancel(receipt.id), "refused");
assert.equal(await hf.retry(receipt.id), "refused");
await hf.cancel(first.id);
assert.equal((await hf.job(first.id))?.status, "cancelled");
await hf.retry(first.id);

await hf.pause("mail", { reason: "provider down" });
await hf.resume("mail");
await hf.pause({ queue: "mail", group: "tenant-7" }, { reason: "unpaid" });
await hf.resume({ queue: "mail", group: "tenant-7" });
await hf.limit("mail", {
  maxActive: 50,
  maxActivePerGroup: 5,
  maxWaiting: 1_000_000,
  weights: { "tenant-7": 3 },
});

// The revived job is due at once, and tenant-7 is no longer held.
assert.equal((await hf.waitFor(first, { timeoutMs: 10_000 })).status, "succeeded");

await worker.stop({ graceMs: 10_000 });
await hf.close();

assert.equal(succeeded.length, 3);
assert.deepEqual(dead, [refused.id]);
console.log("ok");
