/** The short ways of a lease and a settle answer what the long ways would. */
import assert from "node:assert/strict";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { StoredJob } from "../../core/job.ts";
import type { LeasedJob, LeaseReply, Store } from "../../core/store.ts";
import { adoptOne, idsOf, insertOne, insertSome, key } from "../../testing/conformance/new-job.ts";
import { QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRef, retry, settle, settlement } from "../../testing/conformance/settling.ts";
import { succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";

/** More than any clock says. */
const HIGH_FENCE = 8_000_000_000_000_000;
const IDLE_QUEUE = "idle";

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

/** One line of jobs with everything a job may bring along. */
async function fill(queue: string): Promise<void> {
  const [step, tags] = [{ name: "a", value: "1" }, ["x", "y"]];
  await insertSome(store, 3, { queue });
  await insertOne(store, { queue, priority: 7, tags, meta: '{"m":1}', trace: "t" });
  await insertOne(store, { queue, dedupe: key("k"), maxAttempts: 1, type: "other" });
  await insertOne(store, { queue, delayMs: LONG_MS });
  await adoptOne(store, { queue, fence: HIGH_FENCE, crashes: 2, attempts: 1, checkpoint: "7" });
  await adoptOne(store, { queue, attempts: 5, steps: [step], priority: 8_191 });
}

/** The long way is what a lease of two queues takes. */
function lease(queue: string, limit: number, way: "short" | "long"): Promise<LeaseReply> {
  const queues = way === "short" ? [queue] : [queue, IDLE_QUEUE];
  return store.lease({
    ...leaseRequest(limit),
    queues: queues.map((name) => ({ queue: name, limit })),
  });
}

/** What two jobs that were filled in alike have in common. */
function likeness({ id, handle, queue, fence, createdAt, runAt, ...job }: LeasedJob) {
  assert.ok(handle.endsWith(id) && queue !== "");
  return { ...job, isOnTime: runAt === createdAt, isHigh: fence === HIGH_FENCE + 1 };
}

function facts(job: StoredJob | "pruned" | null) {
  return job === null || job === "pruned" ? job : [job.status, job.result, job.resultDropped];
}

describe("the short way of a lease", () => {
  it("brings the same jobs in the same order as the long way, and counts the same", async () => {
    await store.limit([{ queue: IDLE_QUEUE, group: null, maxWaiting: 5 }]);
    const leased: Record<"short" | "long", unknown[]> = { short: [], long: [] };
    for (const way of ["short", "long"] as const) {
      await fill(way);
      const retried = await lease(way, 1, way);
      const [job] = retried.jobs;
      assert.ok(job);
      const updates = { checkpoint: '"here"', steps: [{ name: "b", value: "2" }] };
      await settle(store, job, retry(0), { updates });
      for (const limit of [3, 3, 100]) {
        const { jobs, nextInMs } = await lease(way, limit, way);
        const isSoon = nextInMs === null || nextInMs <= 0 ? nextInMs : "later";
        leased[way].push({ jobs: jobs.map(likeness), isSoon });
      }
    }
    expect(leased.short).toEqual(leased.long);
    const crashed = { attempt: 2, crashes: 2, isHigh: true, checkpoint: "7" };
    expect(leased.short).toMatchObject([
      { jobs: [{ checkpoint: '"here"', attempt: 2, crashes: 0, exhausted: false }, {}, {}] },
      { jobs: [{ attempt: 1, crashes: 0, exhausted: false }, { type: "other" }, crashed] },
      { jobs: [{ attempt: 5, exhausted: true }] },
    ]);
    const counts = (await store.count()).filter(({ queue }) => queue !== IDLE_QUEUE);
    const [one, other] = counts.map(({ queue: _, ...numbers }) => numbers);
    expect(one).toEqual(other);
    expect(one).toMatchObject({ ready: 0, delayed: 1, processing: 7 });
  });

  it("leaves jobs alone that somebody is just taking, and says that there is more", async () => {
    const jobs = await insertSome(store, 4);
    const other = await place.connect();
    const { schema } = place;
    await other.query(`BEGIN; SELECT 1 FROM "${schema}".ready ORDER BY seq LIMIT 2 FOR UPDATE`);
    const some = await store.lease(leaseRequest(10));
    expect(idsOf(some.jobs)).toEqual(idsOf(jobs.slice(2)));
    expect(some.nextInMs).toBe(0);
    expect(await store.lease(leaseRequest(10))).toEqual({ jobs: [], nextInMs: 0 });
    await other.query("ROLLBACK");
    expect(idsOf((await store.lease(leaseRequest(10))).jobs)).toEqual(idsOf(jobs.slice(0, 2)));
  });

  it("is not taken past a second line, a hold, a cap or a job that has become due", async () => {
    await insertSome(store, 2, { group: "a" });
    await insertSome(store, 2, { group: "b" });
    const groups = (await store.lease(leaseRequest(2))).jobs.map(({ group }) => group);
    expect(groups).toEqual(["a", "b"]);
    const [, ...rest] = await takeExactly(store, 2);
    const hold = { forMs: null, reason: "", by: null };
    await settle(store, rest[0] ?? assert.fail(), retry(0));
    await store.hold([{ queue: QUEUE, group: null, owner: "me", hold }]);
    expect((await store.lease(leaseRequest(1))).jobs).toEqual([]);
    await store.hold([{ queue: QUEUE, group: null, owner: "me", hold: null }]);
    await store.limit([{ queue: QUEUE, group: null, maxActive: 3 }]);
    expect((await store.lease(leaseRequest(1))).jobs).toEqual([]);
    await store.limit([{ queue: QUEUE, group: null, maxActive: null }]);
    const due = await insertOne(store, { group: "b", priority: 1, delayMs: LONG_MS });
    await place.pool.query(`UPDATE "${place.schema}".delayed SET run_at = 1`);
    expect((await takeOne(store)).id).toBe(due.id);
  });
});

describe("the short way of a settle", () => {
  it("tells apart what it settled, in the order of the call", async () => {
    const [first] = await insertSome(store, 6);
    const leased = await takeExactly(store, 6);
    await store.cancel({ ids: [{ id: leased[4]?.id ?? "" }] }, { reason: null, by: null });
    const [a, b, c, d, e, f] = leased;
    assert.ok(first && a && b && c && d && e && f);
    const results = await store.settle([
      settlement(f, succeed("1"), { discard: true }),
      settlement({ ...leaseRef(b), fence: b.fence - 1 }, succeed()),
      settlement(a, succeed('"a"')),
      settlement({ ...leaseRef(c), handle: d.handle }, succeed()),
      settlement(e, succeed()),
      settlement(d, { kind: "succeed", result: null, resultDropped: true }),
      settlement(a, succeed('"b"')),
    ]);
    expect(results).toEqual(["settled", "lost", ...Array.from({ length: 5 }, () => "settled")]);
    const seen = await store.get(leased.map(({ id }) => ({ id })));
    expect(seen.map(facts)).toEqual([
      ["succeeded", '"a"', false],
      ["processing", null, false],
      ["succeeded", null, false],
      ["succeeded", null, true],
      ["succeeded", null, false],
      "pruned",
    ]);
    expect(await store.count()).toMatchObject([{ processing: 1, succeeded: 4 }]);
  });

  it("knows the repeat of the attempt before, also in one call with the settle of the next", async () => {
    await insertOne(store);
    const before = await takeOne(store);
    await settle(store, before, retry(0));
    const now = await takeOne(store);
    const settlements = [settlement(before, retry(0)), settlement(now, succeed())];
    expect(await store.settle(settlements)).toEqual(["settled", "settled"]);
    expect(await store.settle(settlements)).toEqual(["lost", "settled"]);
  });
});
