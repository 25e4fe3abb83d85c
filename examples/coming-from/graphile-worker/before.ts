/** The app on graphile-worker. It keeps no result, so the handler tells the waiting code itself. */
import { makeWorkerUtils, run } from "graphile-worker";
import { ADA, allSent, deliver, type Mail, READERS, report } from "../outbox.ts";

const connectionString = process.env.DATABASE_URL!;
const utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const welcomed = Promise.withResolvers<string>();
const runner = await run({
  connectionString,
  concurrency: 10,
  noHandleSignals: true,
  taskList: {
    welcome: async (payload) => welcomed.resolve(await deliver("welcome", payload as Mail)),
    reminder: async (payload) => void (await deliver("reminder", payload as Mail)),
    news: async (payload) => void (await deliver("news", payload as Mail)),
  },
});

await utils.addJob("welcome", ADA, { maxAttempts: 3 });
await utils.addJob("reminder", ADA, { runAt: new Date(Date.now() + 500) });
await utils.addJobs(READERS.map((payload) => ({ identifier: "news", payload })));

const messageId = await welcomed.promise;
await allSent();
report(messageId);

await runner.stop();
await utils.release();
