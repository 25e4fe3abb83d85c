import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  postgresPlace,
  postgresSchema,
  type PostgresSchema,
} from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { insertOne } from "../../testing/conformance/new-job.ts";
import { take, takeOne } from "../../testing/conformance/take.ts";
import { postgresStore } from "./index.ts";

const HOUR_MS = 3_600_000;
let schema: PostgresSchema;
let place: Awaited<ReturnType<typeof postgresPlace>>;
let store: Store;

beforeAll(async () => void (schema = await postgresSchema({ hasStillClock: true })));
afterAll(() => schema.drop());
beforeEach(async () => {
  place = await postgresPlace(schema);
  store = await place.open();
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.dispose();
});

async function another(): Promise<Store> {
  const other = postgresStore({ ...schema.way, schema: schema.schema });
  await other.open();
  return other;
}

describe("a server's clock that was ahead and is put right", () => {
  it("goes on at nine tenths of the usual pace until it has caught up", async () => {
    const before = await store.now();
    await place.rewind(HOUR_MS);
    expect(await store.now()).toBe(before);
    await place.advance(10_000);
    expect(await store.now()).toBe(before + 9_000);
    await place.advance(9 * HOUR_MS);
    expect(await store.now()).toBe(before - HOUR_MS + 10_000 + 9 * HOUR_MS);
    await place.advance(2 * HOUR_MS);
    const caughtUp = before + 10 * HOUR_MS + 10_000;
    expect(await store.now()).toBe(caughtUp);
    await place.advance(100);
    expect(await store.now()).toBe(caughtUp + 100);
  });

  it("waits for less than a second, as it always did", async () => {
    const before = await store.now();
    await place.rewind(900);
    await place.advance(500);
    expect(await store.now()).toBe(before);
    await place.advance(500);
    expect(await store.now()).toBe(before + 100);
  });

  it("is noted again when the clock is set back again", async () => {
    const before = await store.now();
    await place.rewind(HOUR_MS);
    await store.now();
    await place.advance(10_000);
    await store.now();
    await place.rewind(HOUR_MS);
    expect(await store.now()).toBe(before + 9_000);
    await place.advance(10_000);
    expect(await store.now()).toBe(before + 18_000);
  });

  it("is one clock for all processes, also for one that comes later", async () => {
    const job = await insertOne(store, { delayMs: 5_000 });
    const before = await store.now();
    await place.rewind(HOUR_MS);
    await store.now();
    const other = await another();
    await place.advance(10_000);
    expect(await other.now()).toBe(before + 9_000);
    expect((await takeOne(other)).id).toBe(job.id);
    await place.advance(1_000);
    expect(await store.now()).toBe(before + 9_900);
    expect(await other.now()).toBe(before + 9_900);
    await other.close();
  });

  it("lets delayed jobs fall due once, and leases run out", async () => {
    const [running, delayed] = [await insertOne(store), await insertOne(store, { delayMs: 5_000 })];
    await takeOne(store, { leaseMs: 5_000 });
    await place.rewind(HOUR_MS);
    expect(await store.reap({ limit: 10 })).toEqual([]);
    await place.advance(10_000);
    expect((await store.reap({ limit: 10 })).map(({ id }) => id)).toEqual([running.id]);
    const taken = (await take(store, 5)).map(({ id }) => id);
    expect(taken.sort()).toEqual([running.id, delayed.id].sort());
  });

  it("is read, and not noted, by a caller's transaction that may stay open for long", async () => {
    const before = await store.now();
    await place.rewind(HOUR_MS);
    const { tx, rollback } = await place.transaction();
    const within = store.within?.(tx);
    await within?.settle([]);
    expect(await store.now()).toBe(before);
    await place.advance(10_000);
    expect(await store.now()).toBe(before + 9_000);
    await rollback();
  });
});
