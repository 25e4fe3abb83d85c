/**
 * Behind a pooler in transaction mode, two statements in a row meet two different connections unless a
 * transaction is open. This one changes them every time.
 */
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { idsOf, insertSome, key, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import {
  leaseRef,
  retry,
  settle,
  settlement,
  succeed,
} from "../../testing/conformance/settling.ts";
import { takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";
import type { PoolLike, QueryLike } from "./pool-like.ts";

let place: PostgresSchema;
let clients: pg.Client[];
beforeAll(async () => {
  place = await postgresSchema();
  clients = await Promise.all([1, 2, 3].map(() => place.connect()));
});
afterAll(() => place.drop());

function changing(): PoolLike & { readonly names: unknown[] } {
  const names: unknown[] = [];
  let next = 0;
  return {
    names,
    async connect() {
      let pinned: pg.Client | null = null;
      const query = async (config: QueryLike) => {
        names.push(config.name);
        const client = pinned ?? (clients[next++ % clients.length] as pg.Client);
        if (config.text.startsWith("BEGIN")) pinned = client;
        if (/^(COMMIT|ROLLBACK)/.test(config.text)) pinned = null;
        const values = [...(config.values ?? [])];
        return client.query({ ...config, values } as pg.QueryArrayConfig);
      };
      return { query, release: () => {} };
    },
    end: async () => {},
  };
}

describe("behind a pooler in transaction mode", () => {
  it("jobs live their whole life, and nothing is prepared by name", async () => {
    const pool = changing();
    const store = postgresStore({ pool, schema: place.schema, pooler: "transaction" });
    await store.open();
    const jobs = await insertSome(store, 5);
    await insertSome(store, 1, { dedupe: key("k"), delayMs: LONG_MS });
    const leased = await takeExactly(store, 5);
    expect(idsOf(leased)).toEqual(idsOf(jobs));
    await store.renew(leased.map(leaseRef), LONG_MS);
    const [first, ...others] = leased;
    await settle(store, first!, retry(0), { updates: { logs: ["again"], checkpoint: "1" } });
    await store.settle(others.map((job) => settlement(job, succeed(), { spawn: [newJob()] })));
    expect((await takeOne(store)).checkpoint).toBe("1");
    const hold = { forMs: null, reason: "closed", by: null };
    await store.hold([{ queue: QUEUE, group: null, owner: "pause", hold }]);
    await store.reap({ limit: 10 });
    await store.prune([{ queue: null, status: "succeeded", olderThanMs: 0, keep: 1 }], 10);
    expect(await store.count()).toMatchObject([{ ready: 4, delayed: 1, processing: 1 }]);
    await store.close();
    expect(new Set(pool.names)).toEqual(new Set([undefined]));
  });
});
