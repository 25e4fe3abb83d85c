/** Inside the caller's own transaction on MongoDB: the job exists exactly if the data does. */
import assert from "node:assert/strict";
import { Holdfast } from "holdfast";
import { mongodbStore } from "holdfast/mongodb";
import { MongoClient } from "mongodb";
import { z } from "zod";

const client = await new MongoClient(process.env.MONGODB_URL!).connect();
const invoices = client.db().collection<{ _id: number; sent?: boolean }>("invoice");
await client.db().createCollection("invoice");
const hf = new Holdfast({ store: mongodbStore({ db: client.db() }) });
assert.equal((await hf.info()).transactions, true);

hf.define({
  type: "invoice.send",
  payload: z.object({ id: z.number() }),
  async run(job) {
    await client.withSession((session) =>
      session.withTransaction(async () => {
        await invoices.updateOne({ _id: job.payload.id }, { $set: { sent: true } }, { session });
        await job.settleWithin(session, { result: { sent: job.payload.id } });
      }),
    );
  },
});

const order = (id: number, isUndone = false) =>
  client.withSession((session) =>
    session.withTransaction(async () => {
      await invoices.insertOne({ _id: id }, { session });
      const receipt = await hf.within(session).enqueue("invoice.send", { id });
      if (isUndone) throw new Error("changed their mind");
      return receipt;
    }),
  );

const kept = await order(1);
await assert.rejects(order(2, true), /changed their mind/);

const worker = await hf.work();
const done = await hf.waitFor(kept, { timeoutMs: 10_000 });
assert.equal(done.status, "succeeded");
assert.deepEqual(await invoices.find().toArray(), [{ _id: 1, sent: true }]);
assert.equal((await hf.jobs()).jobs.length, 1);

await worker.stop();
await hf.close();
await client.close();
console.log("ok");
