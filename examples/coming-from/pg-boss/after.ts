/** The app on Holdfast, on the same PostgreSQL. */
import { defineJob, Holdfast } from "holdfast";
import { postgresStore } from "holdfast/postgres";
import { ADA, allSent, deliver, type Mail, READERS, report } from "../outbox.ts";

const store = postgresStore({ url: process.env.DATABASE_URL! });
const hf = new Holdfast({ store });

const welcome = defineJob<Mail>({
  type: "welcome",
  queue: "mail",
  retry: { maxAttempts: 3, baseMs: 100 },
});
const reminder = defineJob<Mail>({ type: "reminder", queue: "mail" });
const news = defineJob<Mail>({ type: "news", queue: "mail" });
hf.handle(welcome, (job) => deliver("welcome", job.payload));
hf.handle(reminder, (job) => deliver("reminder", job.payload));
hf.handle(news, (job) => deliver("news", job.payload));
await hf.work({ concurrency: 10 });

const receipt = await hf.enqueue(welcome, ADA);
await hf.enqueue(reminder, ADA, { delayMs: 500 });
await hf.enqueueAll(READERS.map((payload) => news.of(payload)));

const done = await hf.waitFor(receipt, { timeoutMs: 10_000 });
await allSent();
report(done.status === "succeeded" ? String(done.result) : done.status);

await hf.close();
