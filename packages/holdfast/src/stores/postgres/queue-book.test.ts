import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { insertOne, newJob } from "../../testing/conformance/new-job.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
beforeEach(async () => void (place = await postgresSchema()));
afterEach(() => place.drop());

describe("the numbers of queues", () => {
  it("are read again after a failover, so that no job gets into another queue", async () => {
    const { url, schema } = place;
    const pool = new pg.Pool({ connectionString: url, application_name: schema, max: 1 });
    const store = postgresStore({ pool, schema });
    await store.open();
    await insertOne(store, { queue: "mail" });
    // The server that took over has never heard of "mail", and has given its number to another.
    await place.pool.query(`UPDATE "${schema}".queue SET name = 'sms' WHERE name = 'mail'`);
    pool.on("error", () => {});
    // Whether it is at rest or has a call on its way.
    const gone = new Promise((resolve) => pool.once("remove", resolve));
    await place.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
      [schema],
    );
    await gone;
    await store.insert([newJob({ queue: "mail" })]);
    const counts = await store.count();
    expect(counts.map(({ queue, ready }) => [queue, ready])).toEqual([
      ["mail", 1],
      ["sms", 1],
    ]);
    await store.close();
    await pool.end();
  });
});
