/** What a bound in bytes asks of a lease beyond what every store promises. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { idsOf, insertOne, insertSome, QUEUE } from "../../testing/conformance/new-job.ts";
import { die, retry, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { SMALL_BYTES } from "./byte-bound.ts";
import { postgresStore } from "./index.ts";

const LARGE = JSON.stringify("x".repeat(10_000));
const maxBytes = 45_000;

let place: PostgresSchema;
let store: Store;

beforeAll(async () => void (place = await postgresSchema()));
beforeEach(async () => {
  store = postgresStore({ pool: place.pool, schema: place.schema });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.clear();
});
afterAll(() => place.drop());

function countBy(jobs: readonly LeasedJob[], of: (job: LeasedJob) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const job of jobs) counts.set(of(job), (counts.get(of(job)) ?? 0) + 1);
  return counts;
}

type Client = Awaited<ReturnType<PostgresSchema["connect"]>>;

async function storeOver(client: Client): Promise<Store> {
  const pool = {
    connect: async () => Object.assign(client, { release: () => {} }),
    end: async () => {},
  };
  const one = postgresStore({ pool, schema: place.schema, pooler: "transaction" });
  await one.open();
  return one;
}

/** Two connections that count in rows of their own: one in sixteen pairs shares a row (`tally.ts`), and waits for it. */
async function clientsInTwoSlots(): Promise<[Client, Client]> {
  const first = await place.connect();
  for (;;) {
    const other = await place.connect();
    if ((await slotOf(other)) !== (await slotOf(first))) return [first, other];
  }
}

async function slotOf(client: Client): Promise<unknown> {
  const { rows } = await client.query("SELECT pg_backend_pid() % 16 AS slot");
  return (rows[0] as { slot: unknown }).slot;
}

describe("a lease that is bounded in bytes", () => {
  it("gives the lines of a queue their turns all the same", async () => {
    for (const group of ["a", "b", "c"]) await insertSome(store, 20, { group, payload: LARGE });
    const taken: LeasedJob[] = [];
    for (let call = 0; call < 6; call++) {
      const { jobs, nextInMs } = await store.lease(leaseRequest(30, { maxBytes }));
      expect([jobs.length, nextInMs]).toEqual([4, 0]);
      taken.push(...jobs);
    }
    expect(countBy(taken, ({ group }) => group)).toEqual(
      new Map([
        ["a", 8],
        ["b", 8],
        ["c", 8],
      ]),
    );
  });

  it("keeps to weights", async () => {
    await store.limit([{ queue: QUEUE, group: "heavy", weight: 3 }]);
    for (const group of ["heavy", "light"]) await insertSome(store, 30, { group, payload: LARGE });
    const taken: LeasedJob[] = [];
    for (let call = 0; call < 8; call++) {
      taken.push(...(await store.lease(leaseRequest(30, { maxBytes }))).jobs);
    }
    expect(countBy(taken, ({ group }) => group)).toEqual(
      new Map([
        ["heavy", 24],
        ["light", 8],
      ]),
    );
  });

  it("takes small jobs behind a large one that fits", async () => {
    await insertOne(store, { payload: LARGE });
    await insertSome(store, 80);
    const { jobs } = await store.lease(leaseRequest(100, { maxBytes: 4_000_000 }));
    expect(jobs).toHaveLength(81);
  });

  it("stops before a large job that does not fit, and does not pass it by", async () => {
    const small = await insertSome(store, 20);
    const large = await insertOne(store, { payload: LARGE });
    await insertSome(store, 20);
    const { jobs, nextInMs } = await store.lease(leaseRequest(50, { maxBytes: 9_000 }));
    expect(nextInMs).toBe(0);
    expect(jobs.length).toBeGreaterThan(0);
    expect(idsOf(jobs)).toEqual(idsOf(small.slice(0, jobs.length)));
    const ids = idsOf(jobs);
    while (ids.length < 21)
      ids.push(...idsOf((await store.lease(leaseRequest(9, { maxBytes: 9_000 }))).jobs));
    expect(ids[20]).toBe(large.id);
  });

  it("locks nothing that it leaves behind", async () => {
    const jobs = await insertSome(store, 12, { payload: LARGE });
    const [slowClient, quickClient] = await clientsInTwoSlots();
    const [slow, quick] = await Promise.all([storeOver(slowClient), storeOver(quickClient)]);
    // Its lease is answered but not committed yet.
    await slowClient.query("BEGIN");
    const first = await slow.lease(leaseRequest(12, { maxBytes, worker: "slow" }));
    const second = await quick.lease(leaseRequest(12, { maxBytes }));
    expect(idsOf([...first.jobs, ...second.jobs])).toEqual(idsOf(jobs.slice(0, 8)));
    await slowClient.query("COMMIT");
    await quick.close();
    await slow.close();
  });

  it("lets no queue use up the bytes of the others for ever", async () => {
    const queues = ["mail", "sms"];
    for (const queue of queues) await insertSome(store, 30, { queue, payload: LARGE });
    const seen = new Set<string>();
    // Which one is asked first is a matter of chance.
    for (let call = 0; call < 30 && seen.size < 2; call++) {
      const { jobs } = await store.lease(leaseRequest(10, { queues, maxBytes: 100 }));
      expect(jobs).toHaveLength(1);
      for (const { queue } of jobs) seen.add(queue);
    }
    expect(seen).toEqual(new Set(queues));
  });

  it("knows the large payloads of jobs that were retried or revived", async () => {
    await insertSome(store, 5, { payload: LARGE });
    for (const job of await takeExactly(store, 5)) await settle(store, job, retry(0));
    const dead = await insertOne(store, { priority: 1 });
    await settle(store, await takeOne(store), die());
    const payload = { json: LARGE, hash: null };
    const revival = { delayMs: 0, runAt: null, attempts: 1, payload };
    await store.revive({ ids: [dead] }, revival, { reason: null, by: null });
    // Ten small ones would be within it: only the mark of the large ones says that these are not.
    const bound = { maxBytes: 10 * SMALL_BYTES };
    const sizes: number[] = [];
    while (sizes.length < 2) sizes.push((await store.lease(leaseRequest(10, bound))).jobs.length);
    expect(sizes).toEqual([4, 2]);
  });
});
