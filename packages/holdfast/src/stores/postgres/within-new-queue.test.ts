/** The first job of a queue, enqueued in a transaction that has the only connection. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
let pool: pg.Pool;
let store: Store;
beforeEach(async () => {
  place = await postgresSchema();
  pool = new pg.Pool({ connectionString: place.url, max: 1 });
  store = postgresStore({ pool, schema: place.schema, deadlineMs: 5_000 });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await pool.end();
  await place.drop();
});

/** Two calls in one transaction, the second one in a queue that the first one has made. */
async function insertTwice(end: "COMMIT" | "ROLLBACK"): Promise<void> {
  const mine = await pool.connect();
  await mine.query("BEGIN");
  for (const group of ["a", "b"]) {
    const [result] = await store.within!(mine).insert([newJob({ queue: "mail", group })]);
    expect(result).toMatchObject({ outcome: "added" });
  }
  await mine.query(end);
  mine.release();
}

async function ready(): Promise<unknown[]> {
  const counts = await store.count();
  return counts.map(({ queue, ready: jobs }) => [queue, jobs]);
}

describe("a queue whose first job comes in the transaction on the only connection", () => {
  it("exists if that commits", async () => {
    await insertTwice("COMMIT");
    await store.insert([newJob({ queue: "mail" })]);
    expect(await ready()).toEqual([["mail", 3]]);
  });

  it("has no number that was rolled back", async () => {
    await insertTwice("ROLLBACK");
    await store.insert([newJob({ queue: "sms" })]);
    await insertTwice("COMMIT");
    await store.insert([newJob({ queue: "mail" })]);
    expect(await ready()).toEqual([
      ["mail", 3],
      ["sms", 1],
    ]);
  });
});
