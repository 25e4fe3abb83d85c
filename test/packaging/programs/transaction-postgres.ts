/** Inside the caller's own transaction on PostgreSQL: the job exists exactly if the data does. */
import assert from "node:assert/strict";
import { Holdfast } from "holdfast";
import { postgresStore } from "holdfast/postgres";
import pg from "pg";
import { z } from "zod";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  "CREATE TABLE invoice (id integer PRIMARY KEY, sent boolean NOT NULL DEFAULT false)",
);
const hf = new Holdfast({ store: postgresStore({ pool }) });

async function transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const answer = await work(client);
    await client.query("COMMIT");
    return answer;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

hf.define({
  type: "invoice.send",
  payload: z.object({ id: z.number() }),
  run: (job) =>
    transaction(async (client) => {
      await client.query("UPDATE invoice SET sent = true WHERE id = $1", [job.payload.id]);
      await job.settleWithin(client, { result: { sent: job.payload.id } });
    }),
});

const order = (id: number, isUndone = false) =>
  transaction(async (client) => {
    await client.query("INSERT INTO invoice (id) VALUES ($1)", [id]);
    const receipt = await hf.within(client).enqueue("invoice.send", { id });
    if (isUndone) throw Object.assign(new Error("changed their mind"), { receipt });
    return receipt;
  });

const kept = await order(1);
await assert.rejects(order(2, true), /changed their mind/);

const worker = await hf.work();
const done = await hf.waitFor(kept, { timeoutMs: 10_000 });
assert.equal(done.status, "succeeded");
const { rows } = await pool.query("SELECT id, sent FROM invoice");
assert.deepEqual(rows, [{ id: 1, sent: true }]);
assert.equal((await hf.jobs()).jobs.length, 1);

await worker.stop();
await hf.close();
await pool.end();
console.log("ok");
