/** The app on Agenda. It keeps no result, so the handler tells the waiting code itself. */
import { MongoBackend } from "@agendajs/mongo-backend";
import { Agenda, constant } from "agenda";
import { MongoClient } from "mongodb";
import { ADA, allSent, deliver, type Mail, READERS, report } from "../outbox.ts";

const client = await new MongoClient(process.env.MONGODB_URL!).connect();
const agenda = new Agenda({
  backend: new MongoBackend({ mongo: client.db() }),
  processEvery: 100,
  defaultConcurrency: 10,
});

const welcomed = Promise.withResolvers<string>();
const backoff = constant({ delay: 100, maxRetries: 2 });
agenda.define<Mail>(
  "welcome",
  async ({ attrs }) => welcomed.resolve(await deliver("welcome", attrs.data)),
  { backoff },
);
agenda.define<Mail>("reminder", async ({ attrs }) => void (await deliver("reminder", attrs.data)));
agenda.define<Mail>("news", async ({ attrs }) => void (await deliver("news", attrs.data)));
await agenda.start();

await agenda.now("welcome", ADA);
await agenda.schedule(new Date(Date.now() + 500), "reminder", ADA);
await Promise.all(READERS.map((mail) => agenda.now("news", mail)));

const messageId = await welcomed.promise;
await allSent();
report(messageId);

await agenda.stop(false);
await client.close();
process.exit(); // a timer of Agenda is still there
