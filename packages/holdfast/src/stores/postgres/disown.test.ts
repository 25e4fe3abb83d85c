/** What only a real server shows of leases that a worker does not know of. */
import assert from "node:assert/strict";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { jobOf } from "../../testing/conformance/looking.ts";
import { insertOne, insertSome, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRef } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";

const LOST = "worker-1";
const HOUR_MS = 3_600_000;

let place: PostgresSchema;
let store: Store;

beforeAll(async () => void (place = await postgresSchema({ hasStillClock: true })));
beforeEach(async () => {
  await place.setClock(Date.UTC(2031, 0, 1));
  store = postgresStore({ pool: place.pool, schema: place.schema });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.clear();
});
afterAll(() => place.drop());

async function rowsOf(table: string): Promise<number> {
  const { rows } = await place.pool.query(`SELECT 1 FROM "${place.schema}".${table}`);
  return rows.length;
}

describe("a lease that a worker does not know of", () => {
  it("is reaped uncharged if it commits after its deadline and after it was disowned", async () => {
    const job = await insertOne(store, { maxAttempts: 1 });
    // As through a pooler: there a call that was given up cannot be cancelled on the server.
    const { url, schema } = place;
    const hasty = postgresStore({ url, schema, deadlineMs: 500, pooler: "transaction" });
    await hasty.open();
    const blocker = await place.connect();
    await blocker.query(`BEGIN; LOCK TABLE "${place.schema}".tally IN EXCLUSIVE MODE`);
    const leasing = hasty.lease(leaseRequest(1, { worker: LOST, leaseMs: LONG_MS }));
    await expect(leasing).rejects.toThrow(StoreUnavailableError);
    expect(await store.disown({ worker: LOST, queues: [QUEUE], except: [] })).toBe(0);
    await blocker.query("ROLLBACK");
    // The server does not know that nobody waits for its answer.
    while ((await rowsOf("leased")) === 0);
    expect((await jobOf(store, job)).status).toBe("processing");
    await place.setClock(Date.UTC(2031, 0, 1) + LONG_MS + 1);
    const [reaped] = await store.reap({ limit: 10 });
    expect(reaped).toMatchObject({ id: job.id, charged: false, attempts: 0, crashes: 0 });
    const { status, history } = await jobOf(store, job);
    expect([status, history]).toEqual(["queued", []]);
    await hasty.close();
  });

  it("is left to the reap if somebody has locked it, and nobody waits for it", async () => {
    await insertSome(store, 2);
    const [locked, free] = await takeExactly(store, 2, { worker: LOST, leaseMs: LONG_MS });
    assert.ok(locked && free);
    const blocker = await place.connect();
    const [seq] = locked.handle.split(".");
    await blocker.query(
      `BEGIN; SELECT FROM "${place.schema}".leased WHERE seq = ${seq} FOR UPDATE`,
    );
    expect(await store.disown({ worker: LOST, queues: [QUEUE], except: [] })).toBe(1);
    expect((await jobOf(store, free)).status).toBe("queued");
    await blocker.query("ROLLBACK");
    await place.setClock(Date.UTC(2031, 0, 1) + LONG_MS + 1);
    expect(await store.reap({ limit: 10 })).toMatchObject([{ id: locked.id, charged: false }]);
  });

  it("is told from one of another job with the same fence", async () => {
    await insertSome(store, 2);
    const [kept, lost] = await takeExactly(store, 2, { worker: LOST });
    assert.ok(kept && lost);
    expect(lost.fence).toBe(kept.fence);
    expect(await store.disown({ worker: LOST, queues: [QUEUE], except: [leaseRef(kept)] })).toBe(1);
    expect((await jobOf(store, kept)).status).toBe("processing");
    expect((await jobOf(store, lost)).status).toBe("queued");
  });
});

describe("the memory of a disowned id", () => {
  it("is one row however often it is said, and is swept after an hour", async () => {
    const worker = { worker: LOST, queues: [QUEUE], except: [] };
    for (let times = 0; times < 3; times++) await store.disown(worker);
    await store.prune([], 10);
    expect(await rowsOf("disowned")).toBe(1);
    await place.setClock(Date.UTC(2031, 0, 1) + HOUR_MS);
    await store.prune([], 10);
    expect(await rowsOf("disowned")).toBe(0);
  });

  it("charges again once the hour is over, swept or not", async () => {
    await insertOne(store);
    await store.disown({ worker: LOST, queues: [QUEUE], except: [] });
    await place.setClock(Date.UTC(2031, 0, 1) + HOUR_MS);
    await takeOne(store, { worker: LOST, leaseMs: LONG_MS });
    await place.setClock(Date.UTC(2031, 0, 1) + HOUR_MS + LONG_MS);
    expect(await store.reap({ limit: 10 })).toMatchObject([{ charged: true, crashes: 1 }]);
  });
});
