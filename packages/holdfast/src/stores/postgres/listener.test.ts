import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultProxy } from "../../../../../test/servers/fault-proxy.ts";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store, Wakeup } from "../../core/store.ts";
import { newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
beforeAll(async () => void (place = await postgresSchema()));
afterAll(() => place.drop());

/** Resolves with the next wakeup that fits. */
function heard(store: Store, fits: (wakeup: Wakeup) => boolean): Promise<Wakeup> {
  return new Promise((resolve) => {
    const stop = store.onWakeup((wakeup) => {
      if (!fits(wakeup)) return;
      stop();
      resolve(wakeup);
    });
  });
}

const forQueue = ({ queues }: Wakeup): boolean => queues.includes(QUEUE);

async function listeners(): Promise<number[]> {
  const { rows } = await place.pool.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND query LIKE $1",
    [`%${place.schema}%`],
  );
  return rows.map(({ pid }) => pid);
}

describe("the ears of the store", () => {
  it("hear what other processes insert", async () => {
    const [one, other] = [0, 1].map(() =>
      postgresStore({ url: place.url, schema: place.schema }),
    ) as [Store, Store];
    await Promise.all([one.open(), other.open()]);
    const wakeup = heard(other, forQueue);
    await one.insert([newJob()]);
    expect((await wakeup).queues).toContain(QUEUE);
    await Promise.all([one.close(), other.close()]);
  });

  it("heal when their connection is ended, and send everybody to look", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    const [pid] = await listeners();
    const looked = heard(store, forQueue);
    await place.pool.query("SELECT pg_terminate_backend($1)", [pid]);
    await looked;
    expect(await listeners()).not.toContain(pid);
    const other = postgresStore({ pool: place.pool, schema: place.schema });
    await other.open();
    const wakeup = heard(store, forQueue);
    await other.insert([newJob()]);
    await wakeup;
    await Promise.all([store.close(), other.close()]);
  });

  it("notice a connection that is silent for ever", async () => {
    const proxy = new FaultProxy(place.url);
    const pool = new pg.Pool({ connectionString: await proxy.open() });
    pool.on("error", () => {});
    const store = postgresStore({ pool, schema: place.schema });
    await store.open();
    const looked = heard(store, forQueue);
    proxy.set("hole");
    proxy.set("open");
    await looked;
    await store.close();
    await pool.end();
    await proxy.close();
  });

  it("are closed with the store", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    expect(await listeners()).toHaveLength(1);
    await store.close();
    while ((await listeners()).length > 0);
  });

  it("are not there behind a pooler that changes connections", async () => {
    const { pool, schema } = place;
    const store = postgresStore({ pool, schema, pooler: "transaction" });
    await store.open();
    expect(await listeners()).toEqual([]);
    expect(store.info().wakeups).toBe("process");
    const wakeup = heard(store, forQueue);
    await store.insert([newJob()]);
    await wakeup;
    await store.close();
  });
});
