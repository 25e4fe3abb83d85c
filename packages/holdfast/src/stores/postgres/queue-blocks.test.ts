import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { idsOf, insertOne, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { takeOne } from "../../testing/conformance/take.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
let store: Store;
beforeEach(async () => {
  place = await postgresSchema();
  store = postgresStore({ pool: place.pool, schema: place.schema });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.clear();
  await place.drop();
});

/** As if so many thousand jobs of others had come in between. */
async function passThousands(many: number): Promise<void> {
  const seq = `"${place.schema}".job_seq`;
  await place.pool.query(`SELECT setval('${seq}', (SELECT last_value FROM ${seq}) + 1024 * $1)`, [
    many,
  ]);
}

describe("the jobs of a queue", () => {
  it("are found at once behind very many that it did not keep", async () => {
    const old = await insertOne(store, { delayMs: 60_000 });
    for (let thousands = 0; thousands < 150; thousands++) {
      await passThousands(1);
      await store.insert([newJob()]);
      await store.settle([settlement(await takeOne(store), succeed(), { discard: true })]);
    }
    await passThousands(1);
    const kept = await insertOne(store, { delayMs: 60_000 });
    await passThousands(1_100);
    await store.prune([], 10);
    const { jobs, nextCursor } = await store.find({ queue: QUEUE }, { limit: 10 });
    expect(idsOf(jobs)).toEqual([kept.id, old.id]);
    expect(nextCursor).toBe(null);
    const blocks = await place.pool.query(`SELECT 1 FROM "${place.schema}".queue_block`);
    expect(blocks.rows).toHaveLength(2);
  });
});
