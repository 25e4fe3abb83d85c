import assert from "node:assert/strict";
import type { EventEmitter } from "node:events";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { KeyBusyError, NotInTransactionError } from "../../core/errors.ts";
import type { Store, WithinTransaction } from "../../core/store.ts";
import { countsOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertSome, key, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { die, leaseRef, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { LONG_MS, SHORT_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
let store: Store;
let tx: pg.Client;
let inside: WithinTransaction;

beforeAll(async () => void (place = await postgresSchema()));
beforeEach(async () => {
  store = postgresStore({ pool: place.pool, schema: place.schema });
  await store.open();
  tx = await place.connect();
  await tx.query("BEGIN");
  const opened = store.within?.(tx);
  assert.ok(opened);
  inside = opened;
});
afterEach(async () => {
  await tx.query("ROLLBACK");
  await store.close();
  await place.clear();
});
afterAll(() => place.drop());

/** In another caller's transaction, which is not ended before the test is. */
async function takeBusyKey(): Promise<void> {
  const other = await place.connect();
  await other.query("BEGIN");
  await store.within?.(other).insert([newJob({ dedupe: key("busy") })]);
}

const NOBODY = { reason: null, by: null };

describe("a caller's transaction that stays open", () => {
  it("keeps no insert of others waiting, not even the first ones of its queue", async () => {
    await inside.insert([newJob({ dedupe: key("mine") }), newJob({ group: "a" })]);
    await insertSome(store, 3, { group: "a" });
    await insertSome(store, 1, { dedupe: key("yours") });
    expect((await countsOf(store)).ready).toBe(4);
    await takeExactly(store, 4);
    await tx.query("COMMIT");
    expect((await countsOf(store)).ready).toBe(2);
  });

  it("keeps a full queue's inserts waiting for nobody", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 2 }]);
    await inside.insert([newJob()]);
    const results = await store.insert(newJobs(3));
    expect(results.map(({ outcome }) => outcome)).toEqual(["added", "added", "full"]);
  });

  it("keeps renewals of other jobs going, and its own job kept", async () => {
    await insertSome(store, 3);
    const leased = await takeExactly(store, 3);
    const [mine] = leased;
    assert.ok(mine);
    await inside.settle([settlement(mine, succeed())]);
    expect(await store.renew(leased.map(leaseRef), LONG_MS)).toEqual(["kept", "kept", "kept"]);
    expect((await store.lease(leaseRequest(5))).jobs).toEqual([]);
  });

  it("keeps one settle waiting that spawns a job with its key, and none of the others", async () => {
    await inside.insert([newJob({ dedupe: key("mine") })]);
    await insertSome(store, 5);
    const leased = await takeExactly(store, 5);
    const endings = leased.map((job, index) =>
      index === 2
        ? settlement(job, succeed(), { spawn: [newJob({ dedupe: key("mine") })] })
        : settlement(job, die()),
    );
    const results = await store.settle(endings);
    expect(results).toEqual(["settled", "settled", "busy", "settled", "settled"]);
    await tx.query("ROLLBACK");
    expect(await store.settle(endings.slice(2, 3))).toEqual(["settled"]);
    expect((await countsOf(store)).ready).toBe(1);
  });

  it("says that its job is busy when a renewal carries news of it, and keeps the others", async () => {
    await insertSome(store, 2);
    const [mine, other] = await takeExactly(store, 2);
    assert.ok(mine && other);
    await inside.settle([settlement(mine, succeed())]);
    const news = { ...leaseRef(mine), updates: { progress: { percent: 50, message: null } } };
    expect(await store.renew([news, leaseRef(other)], LONG_MS)).toEqual(["busy", "kept"]);
    await tx.query("ROLLBACK");
    expect(await store.renew([news], LONG_MS)).toEqual(["kept"]);
    expect((await jobOf(store, mine)).progress).toMatchObject({ percent: 50 });
  });

  it("keeps a store open that is closed while a renewal waits for it", async () => {
    const other = postgresStore({ url: place.url, schema: place.schema });
    await other.open();
    await insertSome(other, 1);
    const mine = await takeOne(other);
    await inside.settle([settlement(mine, succeed())]);
    const renewing = other.renew([leaseRef(mine)], LONG_MS);
    await other.close();
    expect(await renewing).toEqual(["kept"]);
  });

  it("keeps no reaping waiting, and its own job from being reaped", async () => {
    await insertSome(store, 2);
    const [mine, other] = await takeExactly(store, 2, { leaseMs: 1 });
    assert.ok(mine && other);
    await inside.settle([settlement(mine, succeed())]);
    const reaped = await store.reap({ limit: 10 });
    expect(reaped.map(({ id }) => id)).toEqual([other.id]);
    await tx.query("COMMIT");
    expect((await jobOf(store, mine)).status).toBe("succeeded");
  });

  it("leaves its job to the holder who was told that it is kept, when it is rolled back", async () => {
    await insertSome(store, 1);
    const [mine] = await takeExactly(store, 1, { leaseMs: 1 });
    assert.ok(mine);
    await inside.settle([settlement(mine, succeed())]);
    expect(await store.renew([leaseRef(mine)], LONG_MS)).toEqual(["kept"]);
    await tx.query("ROLLBACK");
    expect(await store.reap({ limit: 10 })).toEqual([]);
    expect(await store.renew([leaseRef(mine)], 1)).toEqual(["kept"]);
    expect(await store.settle([settlement(mine, succeed())])).toEqual(["settled"]);
  });

  it("lets nobody cancel the job that it settles, and keeps no other operator waiting", async () => {
    await insertSome(store, 2);
    const [mine, other] = await takeExactly(store, 2);
    assert.ok(mine && other);
    await inside.settle([settlement(mine, succeed())]);
    const { changes } = await store.cancel({ ids: [{ id: mine.id }, { id: other.id }] }, NOBODY);
    expect(changes.map(({ result }) => result)).toEqual(["refused", "asked"]);
  });

  it("keeps only those waiting who want the very same key, and not for ever", async () => {
    await inside.insert([newJob({ dedupe: key("k") })]);
    expect(await store.insert([newJob({ dedupe: key("k") })])).toEqual([{ outcome: "busy" }]);
    await insertSome(store, 1, { dedupe: key("other") });
    await tx.query("ROLLBACK");
    await insertSome(store, 1, { dedupe: key("k") });
  });

  it("takes a call that failed as if it had not been made, and goes on", async () => {
    await insertSome(store, 1, { dedupe: key("k") });
    const leased = await takeOne(store);
    await takeBusyKey();
    const spawn = [newJob({ dedupe: key("new") }), newJob({ dedupe: key("busy") })];
    await expect(inside.settle([settlement(leased, succeed(), { spawn })])).rejects.toThrow(
      KeyBusyError,
    );
    await inside.insert([newJob({ dedupe: key("fine") })]);
    await tx.query("COMMIT");
    expect(await countsOf(store)).toMatchObject({ ready: 1, processing: 1 });
  });

  it("loses nothing of one call by the failure of another beside it", async () => {
    await insertSome(store, 1);
    const leased = await takeOne(store);
    await takeBusyKey();
    const spawn = [newJob({ dedupe: key("busy") })];
    const jobs = newJobs(3);
    const [, settled, ...inserted] = await Promise.allSettled([
      ...[
        inside.insert(jobs.slice(0, 1)),
        inside.settle([settlement(leased, succeed(), { spawn })]),
      ],
      ...[inside.insert(jobs.slice(1, 2)), store.within?.(tx).insert(jobs.slice(2))],
    ]);
    expect(settled).toMatchObject({ reason: expect.any(KeyBusyError) as KeyBusyError });
    expect(inserted.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    await tx.query("COMMIT");
    expect(await countsOf(store)).toMatchObject({ ready: 3, processing: 1 });
  });

  it("is told of a key that another one is taking, and goes on", async () => {
    await takeBusyKey();
    const jobs = [newJob({ dedupe: key("new") }), newJob({ dedupe: key("busy") }), newJob()];
    const results = await inside.insert(jobs);
    expect(results.map(({ outcome }) => outcome)).toEqual(["added", "busy", "added"]);
    await tx.query("COMMIT");
    expect((await countsOf(store)).ready).toBe(2);
  });

  it("keeps the neighbours of a busy key in the same call from nothing", async () => {
    await inside.insert([newJob({ dedupe: key("a") }), newJob({ dedupe: key("c") })]);
    const wanted = ["a", "b", null, "c", "b", "a"];
    const jobs = wanted.map((name) => newJob({ dedupe: name === null ? null : key(name) }));
    const results = await store.insert(jobs);
    const outcomes = ["busy", "added", "added", "busy", "duplicate", "busy"];
    expect(results.map(({ outcome }) => outcome)).toEqual(outcomes);
    await tx.query("ROLLBACK");
    const again = await store.insert([...jobs.slice(0, 1), ...jobs.slice(3, 4)]);
    expect(again.map(({ outcome }) => outcome)).toEqual(["added", "added"]);
  });

  it("keeps a key busy that it is freeing", async () => {
    await insertSome(store, 1, { dedupe: key("k", "until-finished") });
    await inside.settle([settlement(await takeOne(store), succeed())]);
    const wants = newJob({ dedupe: key("k") });
    expect(await store.insert([wants])).toEqual([{ outcome: "busy" }]);
    await tx.query("COMMIT");
    expect(await store.insert([wants])).toMatchObject([{ outcome: "added" }]);
  });

  it("wakes those who listen once it has ended", async () => {
    const heard = new Promise<void>((resolve) => {
      store.onWakeup(({ queues }) => void (queues.includes(QUEUE) && resolve()));
    });
    await inside.insert([newJob()]);
    await tx.query("COMMIT");
    await heard;
  });

  it("counts what it did once it is committed, and the counts can be folded", async () => {
    await insertSome(store, 1);
    await inside.settle([settlement(await takeOne(store), succeed())]);
    await inside.insert([newJob(), newJob({ delayMs: LONG_MS })]);
    await tx.query("COMMIT");
    const expected = { ready: 1, delayed: 1, succeeded: 1 };
    expect(await countsOf(store)).toMatchObject(expected);
    await store.prune([], 10);
    expect(await countsOf(store)).toMatchObject(expected);
    const { rows } = await place.pool.query(`SELECT 1 FROM "${place.schema}".tally_late`);
    expect(rows).toEqual([]);
  });

  it("is told apart from a pool, a failed transaction and another database", async () => {
    for (const wrong of [place.pool, {}, null]) {
      expect(() => store.within?.(wrong)).toThrow(NotInTransactionError);
    }
    await tx.query("SELECT 1/0").catch(() => {});
    await expect(inside.insert([newJob()])).rejects.toThrow(NotInTransactionError);
    const other = await place.connect();
    await other.query("CREATE TEMP TABLE mine (n int); BEGIN; INSERT INTO mine VALUES (1)");
    const elsewhere = postgresStore({ pool: place.pool, schema: `${place.schema}_other` });
    await elsewhere.open();
    await place.pool.query(`DROP SCHEMA "${place.schema}_other" CASCADE`);
    await expect(elsewhere.within?.(other).insert([newJob()])).rejects.toThrow(
      NotInTransactionError,
    );
    await elsewhere.close();
    await other.query("COMMIT");
    expect((await other.query("SELECT n FROM mine")).rows).toEqual([{ n: 1 }]);
  });

  it("is found out by its first statement if the driver does not tell", async () => {
    const client = await place.connect();
    const silent = { query: client.query.bind(client) };
    const outside = store.within?.(silent);
    await expect(outside?.insert([newJob()])).rejects.toThrow(NotInTransactionError);
    await client.query("BEGIN");
    await store.within?.(silent).insert([newJob()]);
    await client.query("COMMIT");
    expect((await countsOf(store)).ready).toBe(1);
  });

  it("leaves a lease that ran out to its settler until it ends", async () => {
    await insertSome(store, 1);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await inside.settle([settlement(leased, succeed("1"))]);
    expect(inside.isOpen()).toBe(true);
    await tx.query("COMMIT");
    expect(inside.isOpen()).toBe(false);
    expect((await jobOf(store, leased)).result).toBe("1");
  });
});

describe("a transaction on a connection of a pool", () => {
  let pool: pg.Pool;
  let mine: pg.PoolClient;
  let handle: WithinTransaction;

  beforeEach(async () => {
    pool = new pg.Pool({ connectionString: place.url, max: 1 });
    pool.on("error", () => {});
    mine = await pool.connect();
    await mine.query("BEGIN");
    await insertSome(store, 1);
    const opened = store.within?.(mine);
    assert.ok(opened);
    handle = opened;
    await handle.settle([settlement(await takeOne(store), succeed())]);
  });
  afterEach(() => pool.end());

  /** What a pool does with a connection that somebody gave back. */
  async function beginAnother(): Promise<pg.PoolClient> {
    mine.release();
    const other = await pool.connect();
    expect(other).toBe(mine);
    await other.query("BEGIN");
    return other;
  }

  for (const end of ["COMMIT", "ROLLBACK"]) {
    it(`is over after ${end}, also when somebody begins another one there`, async () => {
      expect(handle.isOpen()).toBe(true);
      await mine.query(end);
      const other = await beginAnother();
      expect(handle.isOpen()).toBe(false);
      await other.query("ROLLBACK");
      other.release();
      expect(handle.isOpen()).toBe(false);
    });
  }

  it("is over after COMMIT AND CHAIN, and after a COMMIT and a BEGIN in one message", async () => {
    await mine.query("COMMIT AND CHAIN");
    expect(handle.isOpen()).toBe(false);
    const next = store.within?.(mine);
    expect(next?.isOpen()).toBe(true);
    await mine.query("COMMIT; BEGIN");
    expect(next?.isOpen()).toBe(false);
    await mine.query("ROLLBACK");
    mine.release();
  });

  it("is still open after a savepoint was rolled back, and after it has failed", async () => {
    await mine.query("SAVEPOINT here; ROLLBACK TO SAVEPOINT here");
    expect(handle.isOpen()).toBe(true);
    await mine.query("SELECT 1/0").catch(() => {});
    expect(handle.isOpen()).toBe(true);
    await mine.query("ROLLBACK");
    expect(handle.isOpen()).toBe(false);
    mine.release();
  });

  it("takes nothing more once it has ended, and nothing goes into the next one", async () => {
    await mine.query("COMMIT");
    const other = await beginAnother();
    await expect(handle.insert([newJob()])).rejects.toThrow(NotInTransactionError);
    await other.query("COMMIT");
    other.release();
    expect(await countsOf(store)).toMatchObject({ ready: 0, succeeded: 1 });
  });

  it("is over when its connection ends, in order or not", async () => {
    mine.release(true);
    await new Promise((resolve) => mine.once("end", resolve));
    expect(handle.isOpen()).toBe(false);
    const client = await place.connect();
    client.on("error", () => {});
    await client.query("BEGIN");
    const cut = store.within?.(client);
    expect(cut?.isOpen()).toBe(true);
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const ended = new Promise((resolve) => client.once("end", resolve));
    await place.pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    await ended;
    expect(cut?.isOpen()).toBe(false);
  });

  it("is listened to once by any number of calls, and by nobody after its end", async () => {
    const { connection } = mine as unknown as { connection: EventEmitter };
    const before = connection.listenerCount("readyForQuery");
    const handles = Array.from({ length: 50 }, () => store.within?.(mine));
    expect(connection.listenerCount("readyForQuery")).toBe(before);
    await mine.query("COMMIT");
    expect(handles.map((one) => one?.isOpen())).not.toContain(true);
    expect(connection.listenerCount("readyForQuery")).toBe(before - 1);
    mine.release();
  });

  it("never opens again once a driver that only tells its status was seen outside", async () => {
    const query = mine.query.bind(mine);
    const getTransactionStatus = () => mine.getTransactionStatus();
    const asked = store.within?.({ query, getTransactionStatus });
    expect(asked?.isOpen()).toBe(true);
    await mine.query("COMMIT");
    expect(asked?.isOpen()).toBe(false);
    await mine.query("BEGIN");
    expect(asked?.isOpen()).toBe(false);
    const broken = { query, getTransactionStatus: (): string => "T" };
    const silent = store.within?.(broken);
    broken.getTransactionStatus = () => {
      throw new Error("the connection is gone");
    };
    expect(silent?.isOpen()).toBe(false);
    await mine.query("ROLLBACK");
    mine.release();
  });
});
