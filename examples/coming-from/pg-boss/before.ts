/** The app on pg-boss. A queue for each kind of job, and a poll of it to wait for a result. */
import { setTimeout as pause } from "node:timers/promises";
import { PgBoss } from "pg-boss";
import { ADA, allSent, deliver, type Mail, READERS, report } from "../outbox.ts";

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL!, schedule: false });
boss.on("error", (error) => console.error(error));
await boss.start();

for (const kind of ["welcome", "reminder", "news"] as const) {
  await boss.createQueue(kind);
  const options = { localConcurrency: 10, pollingIntervalSeconds: 0.5 };
  await boss.work<Mail>(kind, options, async ([job]) => deliver(kind, job!.data));
}

const id = await boss.send("welcome", ADA, { retryLimit: 2, retryDelay: 1 });
await boss.send("reminder", ADA, { startAfter: 1 });
await boss.insert(
  "news",
  READERS.map((data) => ({ data })),
);

let job = await boss.getJobById("welcome", id!);
while (job?.state !== "completed") {
  await pause(100);
  job = await boss.getJobById("welcome", id!);
}
await allSent();
report((job.output as unknown as { value: string }).value);

await boss.stop({ graceful: true, close: true });
