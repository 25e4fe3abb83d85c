import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { postgresStore } from "../../packages/holdfast/src/stores/postgres/index.ts";
import { postgresSchema, type PostgresSchema } from "../servers/postgres-place.ts";

const CONNECTIONS = 4;

describe("inside callers' transactions on postgresql", () => {
  let place: PostgresSchema;
  let pool: pg.Pool;
  let hf: Holdfast;
  beforeEach(async () => {
    place = await postgresSchema();
    pool = new pg.Pool({ connectionString: place.url, max: CONNECTIONS });
    hf = new Holdfast({ store: postgresStore({ pool, schema: place.schema, deadlineMs: 3_000 }) });
  });
  afterEach(async () => {
    await hf.close();
    await pool.end();
    await place.drop();
  });

  it("a finished duplicate shows its outcome, also if every connection has a transaction open", async () => {
    hf.define({ type: "invoice.send", run: async () => ({ sent: true }) });
    const first = await hf.enqueue("invoice.send", {}, { idempotencyKey: "k" });
    const worker = await hf.work();
    await hf.waitFor(first);
    await worker.stop();
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()));
    try {
      for (const client of clients) await client.query("BEGIN");
      const receipts = await Promise.all(
        clients.map((client) =>
          hf.within(client).enqueue("invoice.send", {}, { idempotencyKey: "k" }),
        ),
      );
      for (const receipt of receipts) {
        expect(receipt).toMatchObject({
          status: "duplicate",
          outcome: { status: "succeeded", result: { sent: true } },
        });
      }
      for (const client of clients) await client.query("COMMIT");
    } finally {
      for (const client of clients) client.release();
    }
  });

  it("a new queue needs no second connection: each transaction makes its own", async () => {
    await hf.counts();
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()));
    try {
      for (const client of clients) await client.query("BEGIN");
      const receipts = clients.map((client, at) =>
        hf.within(client).enqueue("note", { at }, { queue: `queue-${at}` }),
      );
      for (const receipt of await Promise.all(receipts)) expect(receipt.status).toBe("added");
      for (const client of clients) await client.query("COMMIT");
    } finally {
      for (const client of clients) client.release();
    }
    const { jobs } = await hf.jobs({ order: "oldest" });
    expect(jobs.map(({ queue }) => queue).sort()).toEqual(clients.map((_, at) => `queue-${at}`));
  });
});
