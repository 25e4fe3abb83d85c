/** The numbers behind the counts of dead jobs; what they answer is asked by the conformance suite. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { adoptAll, adoptedJob, idsOf } from "../../testing/conformance/new-job.ts";
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
  await place.drop();
});

async function rowsIn(table: "dead_late" | "dead_count"): Promise<number> {
  const { rows } = await place.pool.query<{ n: string }>(
    `SELECT count(*) AS n FROM "${place.schema}".${table}`,
  );
  return Number(rows[0]?.n);
}

describe("the notes of dead jobs", () => {
  it("are added up by a reaping, and a kind without jobs is forgotten", async () => {
    const jobs = Array.from({ length: 30 }, (_, at) =>
      adoptedJob({ status: "dead", type: `t${at % 2}`, finishedAt: 2_000 + at }),
    );
    await adoptAll(store, jobs);
    expect(await rowsIn("dead_late")).toBe(30);
    const counts = async () => {
      const found = await store.countDead({ by: "type", limit: 10 });
      return found.map(({ key, count, firstAt, lastAt }) => [key, count, firstAt, lastAt]);
    };
    const all = [
      ["t0", 15, 2_000, 2_028],
      ["t1", 15, 2_001, 2_029],
    ];
    expect(await counts()).toEqual(all);
    await store.reap({ limit: 1 });
    expect(await rowsIn("dead_late")).toBe(0);
    expect(await counts()).toEqual(all);
    const ids = idsOf(jobs).map((id) => ({ id }));
    await store.remove({ ids }, { reason: null, by: null });
    expect(await counts()).toEqual([]);
    await store.reap({ limit: 1 });
    expect([await rowsIn("dead_late"), await rowsIn("dead_count")]).toEqual([0, 0]);
  });

  it("of a transaction that is rolled back are not there", async () => {
    const job = adoptedJob({ status: "dead", type: "x", finishedAt: 2_000 });
    await adoptAll(store, [job]);
    const client = await place.pool.connect();
    await client.query("BEGIN");
    await client.query(`DELETE FROM "${place.schema}".done`);
    await client.query("ROLLBACK");
    client.release();
    expect(await store.countDead({ by: "type", limit: 10 })).toMatchObject([
      { key: "x", count: 1 },
    ]);
  });
});
