/** The app on BullMQ. */
import { Queue, QueueEvents, Worker } from "bullmq";
import { ADA, allSent, deliver, type Mail, READERS, report } from "../outbox.ts";

const connection = { url: process.env.REDIS_URL! };
const prefix = process.env.PREFIX!;

const mail = new Queue("mail", { connection, prefix });
const events = new QueueEvents("mail", { connection, prefix });
const worker = new Worker("mail", async (job) => deliver(job.name as "welcome", job.data as Mail), {
  connection,
  prefix,
  concurrency: 10,
});
await Promise.all([events.waitUntilReady(), worker.waitUntilReady()]);

const job = await mail.add("welcome", ADA, {
  attempts: 3,
  backoff: { type: "exponential", delay: 100 },
});
await mail.add("reminder", ADA, { delay: 500 });
await mail.addBulk(READERS.map((data) => ({ name: "news", data })));

const messageId = (await job.waitUntilFinished(events, 10_000)) as string;
await allSent();
report(messageId);

await worker.close();
await events.close();
await mail.close();
