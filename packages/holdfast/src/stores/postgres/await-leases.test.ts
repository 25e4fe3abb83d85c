import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { LimitChange } from "../../core/line.ts";
import type { Store } from "../../core/store.ts";
import { insertSome, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRequest, take } from "../../testing/conformance/take.ts";
import { postgresStore } from "./index.ts";
import type { PoolLike, QueryLike } from "./pool-like.ts";

let place: PostgresSchema;
let store: Store;
let looks: number;
let onLook: () => void;

/** Hears when somebody looks for leases that are under way. */
function hearing(): PoolLike {
  return {
    async connect() {
      const client = await place.pool.connect();
      const query = (config: QueryLike) => {
        if (config.text.includes("pg_locks") && ++looks === 2) onLook();
        return client.query(config as never) as never;
      };
      return { query, release: () => client.release() };
    },
    end: async () => {},
  };
}

beforeAll(async () => void (place = await postgresSchema()));
beforeEach(async () => {
  looks = 0;
  onLook = () => {};
  store = postgresStore({ pool: hearing(), schema: place.schema });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.clear();
});
afterAll(() => place.drop());

async function isTrue(sql: string): Promise<boolean> {
  const { rows } = await place.pool.query(sql.replaceAll("$", place.schema));
  return rows.length > 0;
}

describe("a cap that is set while a lease is under way", () => {
  const caps: Record<string, LimitChange> = {
    "of a line": { queue: QUEUE, group: "a", maxActive: 2 },
    "of a queue": { queue: QUEUE, group: null, maxActive: 2 },
    "of every line": { queue: QUEUE, group: null, maxActivePerGroup: 2 },
  };
  for (const [name, cap] of Object.entries(caps)) {
    it(`counts what that lease takes: ${name}`, async () => {
      await insertSome(store, 6, { group: "a" });
      const blocker = await place.connect();
      // A lease counts last, so it has its jobs and cannot commit.
      await blocker.query(`BEGIN; LOCK TABLE "${place.schema}".tally IN EXCLUSIVE MODE`);
      const leasing = store.lease(leaseRequest(3));
      const isWaiting = `SELECT 1 FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%$".lease(%'`;
      while (!(await isTrue(isWaiting)));
      const looked = new Promise<"waits">((resolve) => (onLook = () => resolve("waits")));
      const limiting = store.limit([cap]).then(() => "answers" as const);
      expect(await Promise.race([looked, limiting])).toBe("waits");
      await blocker.query("ROLLBACK");
      expect((await leasing).jobs).toHaveLength(3);
      await limiting;
      expect(await take(store, 3)).toEqual([]);
    });
  }
});
