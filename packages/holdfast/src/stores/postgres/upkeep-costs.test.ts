/** What upkeep costs with thousands of queues on record: how often it asks, and what it leaves behind. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Retention, Store } from "../../core/store.ts";
import { countsOf } from "../../testing/conformance/looking.ts";
import {
  adoptedJob,
  adoptAll,
  insertSome,
  newJob,
  QUEUE,
} from "../../testing/conformance/new-job.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";
import type { PoolLike, QueryLike } from "./pool-like.ts";

const QUEUES = 1_900;
const POLICIES: readonly Retention[] = (["succeeded", "dead", "cancelled"] as const).map(
  (status) => ({ queue: null, status, olderThanMs: 86_400_000, keep: null }),
);

let place: PostgresSchema;
let store: Store;
let asked: string[];

/** Notes every statement. */
function noting(): PoolLike {
  return {
    async connect() {
      const client = await place.pool.connect();
      const query = (config: QueryLike) => {
        asked.push(config.text);
        return client.query(config as never) as never;
      };
      return { query, release: () => client.release() };
    },
    end: async () => {},
  };
}

beforeEach(async () => {
  place = await postgresSchema();
  asked = [];
  store = postgresStore({ pool: noting(), schema: place.schema });
  await store.open();
  await place.pool.query(`
    SET search_path = "${place.schema}";
    INSERT INTO queue (name) SELECT 'q' || n FROM generate_series(1, ${QUEUES}) n;
    INSERT INTO tally SELECT q, 0, 0, 0, 1, 0, 0, 9e15 FROM queue;
    INSERT INTO done SELECT q, 1, false, -q, 9e15, 1, 1, NULL, 1, 1, 5, 0, 0, 'w' FROM queue;
    RESET search_path`);
});
afterEach(async () => {
  await store.close();
  await place.drop();
});

describe("upkeep with thousands of queues", () => {
  it("prunes nothing in a few statements", async () => {
    asked = [];
    expect(await store.prune(POLICIES, 500)).toBe(0);
    expect(asked.length).toBeLessThan(10);
  });

  it("prunes the oldest of all queues in a few statements", async () => {
    await place.pool.query(`UPDATE "${place.schema}".done SET finished_at = 1 WHERE q % 2 = 0`);
    asked = [];
    let pruned = 0;
    for (let calls = 0; calls < 200 && pruned < QUEUES / 2; calls++) {
      pruned += await store.prune(POLICIES, 500);
    }
    expect(pruned).toBe(QUEUES / 2);
    expect(asked.length / 100).toBeLessThan(10);
  });

  it("reaps in one statement, and moves what is due in all queues in another", async () => {
    await store.reap({ limit: 200 });
    asked = [];
    await store.reap({ limit: 200 });
    expect(asked).toHaveLength(1);
    await place.pool.query(`
      INSERT INTO "${place.schema}".job (seq, created_at, q, prio, id, grp, type, payload)
        SELECT 100000 + q, 1, q, 100, gen_random_uuid(), '', 't', '{}' FROM "${place.schema}".queue;
      INSERT INTO "${place.schema}".delayed
        SELECT q, 100, 100000 + q, 0, 0, 1, 0, 5, 0, 0, '' FROM "${place.schema}".queue;
      UPDATE "${place.schema}".tally SET delayed = 1 WHERE slot = 0`);
    asked = [];
    for (let calls = 0; calls < 3; calls++) await store.reap({ limit: 200 });
    expect(asked.length).toBeLessThan(12);
    const { rows } = await place.pool.query(`SELECT 1 FROM "${place.schema}".ready`);
    expect(rows).toHaveLength(QUEUES);
  });

  it("takes leases back in one call, so that a slow process keeps nobody from them for long", async () => {
    await insertSome(store, 3);
    await takeExactly(store, 1, { worker: "lost", leaseMs: LONG_MS });
    const [gone, cancelled] = await takeExactly(store, 2, { leaseMs: 1 });
    await store.cancel({ ids: [{ id: cancelled?.id ?? "" }] }, { by: null, reason: "no more" });
    await store.reap({ limit: 0 });
    asked = [];
    const reaped = await store.reap({ limit: 10 });
    expect(new Set(reaped.map(({ id }) => id))).toEqual(new Set([gone?.id, cancelled?.id]));
    expect(asked).toHaveLength(2);
    expect(await store.disown({ worker: "lost", queues: [QUEUE], except: [] })).toBe(1);
    expect(asked.filter((text) => text.includes("BEGIN"))).toEqual([]);
  });

  it("folds the tally into one row a queue, as fast as it is written", async () => {
    await place.pool.query(`INSERT INTO "${place.schema}".tally
      SELECT q, 16 + slot, 1, 0, 0, 0, 0 FROM "${place.schema}".queue, generate_series(1, 16) slot`);
    for (let calls = 0; calls < 4; calls++) await store.reap({ limit: 200 });
    const { rows } = await place.pool.query<{ n: string; ready: string }>(
      `SELECT count(*) AS n, sum(ready) AS ready FROM "${place.schema}".tally`,
    );
    expect(rows[0]).toEqual({ n: String(QUEUES), ready: String(16 * QUEUES) });
  });
});

describe("retention by number", () => {
  it("keeps the newest of each queue, whatever the others have", async () => {
    const now = await store.now();
    const jobs = [5, 4, 3, 2, 1].map((hours) =>
      adoptedJob({ status: "succeeded", createdAt: 1, finishedAt: now - hours * 3_600_000 }),
    );
    await adoptAll(store, jobs);
    await store.insert([newJob()]);
    const keep = { queue: QUEUE, status: "succeeded", olderThanMs: null, keep: 2 } as const;
    expect(await store.prune([...POLICIES, keep], 500)).toBe(3);
    expect(await countsOf(store)).toMatchObject({ succeeded: 2, ready: 1 });
  });
});
