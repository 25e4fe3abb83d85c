import assert from "node:assert/strict";
import { MongoClient, type ClientSession } from "mongodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  mongodbDatabase,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import { Died, intercepted } from "../../../../../test/servers/mongodb-world.ts";
import { NotInTransactionError } from "../../core/errors.ts";
import type { Store, WithinTransaction } from "../../core/store.ts";
import { Holdfast } from "../../index.ts";
import { countsOf, jobOf, lineOf } from "../../testing/conformance/looking.ts";
import { insertAll, insertSome, key, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { die, leaseRef, settlement, succeed } from "../../testing/conformance/settling.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { mongodbStore } from "./index.ts";
import { isTooLate } from "./mongodb-error.ts";

let database: MongodbDatabase;
let store: Store;
let tx: ClientSession;
let inside: WithinTransaction;

beforeAll(async () => void (database = await mongodbDatabase()));
beforeEach(async () => {
  store = mongodbStore({ db: database.db });
  await store.open();
  tx = database.client.startSession();
  tx.startTransaction();
  const opened = store.within?.(tx);
  assert.ok(opened);
  inside = opened;
});
afterEach(async () => {
  if (tx.inTransaction()) await tx.abortTransaction();
  await tx.endSession();
  await store.close();
  await database.clear();
});
afterAll(() => database.drop());

const NOBODY = { reason: null, by: null };

describe("a caller's transaction that stays open", () => {
  it("keeps no insert of others waiting, not even the first ones of its queue", async () => {
    await inside.insert([newJob({ dedupe: key("mine") }), newJob({ group: "a" })]);
    await insertSome(store, 3, { group: "a" });
    await insertSome(store, 1, { dedupe: key("yours") });
    expect((await countsOf(store)).ready).toBe(4);
    await takeExactly(store, 4);
    await tx.commitTransaction();
    expect((await countsOf(store)).ready).toBe(2);
  });

  it("keeps no renewal of another job waiting, and its own job is kept", async () => {
    await insertSome(store, 3);
    const leased = await takeExactly(store, 3);
    const [mine] = leased;
    assert.ok(mine);
    await inside.settle([settlement(mine, succeed("1"))]);
    expect(await store.renew(leased.map(leaseRef), LONG_MS)).toEqual(["kept", "kept", "kept"]);
    const [, , last] = leased;
    assert.ok(last);
    const { leaseUntil } = await jobOf(store, last);
    assert.ok(leaseUntil !== null && leaseUntil > (await store.now()) + LONG_MS / 2);
    await tx.commitTransaction();
    expect((await jobOf(store, mine)).status).toBe("succeeded");
  });

  it("keeps nobody waiting who settles in it what is settled already", async () => {
    await insertSome(store, 1);
    const [job] = await takeExactly(store, 1);
    assert.ok(job);
    const ended = [settlement(job, die())];
    expect(await store.settle(ended)).toEqual(["settled"]);
    expect(await inside.settle(ended)).toEqual(["settled"]);
    await insertSome(store, 1);
    expect((await countsOf(store)).ready).toBe(1);
  });

  it("keeps no cancellation of another job waiting, and its own job refuses", async () => {
    await insertSome(store, 2);
    const [mine, other] = await takeExactly(store, 2);
    assert.ok(mine && other);
    await inside.settle([settlement(mine, succeed())]);
    const { changes } = await store.cancel({ ids: [{ id: mine.id }, { id: other.id }] }, NOBODY);
    expect(changes.map(({ result }) => result)).toEqual(["refused", "asked"]);
  });

  it("keeps no settle of other jobs from being done, however many come with its own", async () => {
    const count = 80;
    await insertSome(store, count);
    const leased = await takeExactly(store, count);
    const [mine] = leased;
    assert.ok(mine);
    await inside.settle([settlement(mine, succeed())]);
    const back = { kind: "release", afterMs: 0 } as const;
    const answers = await store.settle(leased.map((job) => settlement(job, back)));
    expect(answers).toEqual(["busy", ...Array<string>(count - 1).fill("settled")]);
    expect((await countsOf(store)).ready).toBe(count - 1);
  });

  it("keeps no other line full whose job shared a document with its own", async () => {
    const limits = { queue: QUEUE, group: null, maxActivePerGroup: 1 };
    await store.limit([limits]);
    await insertAll(store, [newJob({ group: "a" }), newJob({ group: "b" })]);
    const [mine, other] = await takeExactly(store, 2);
    assert.ok(mine && other);
    await inside.settle([settlement(mine, succeed())]);
    const back = { kind: "release", afterMs: 0 } as const;
    expect(await store.settle([settlement(other, back)])).toEqual(["settled"]);
    await expect.poll(async () => (await lineOf(store, other.group)).active).toBe(0);
    expect((await lineOf(store, mine.group)).active).toBe(1);
    expect((await takeExactly(store, 1)).map(({ id }) => id)).toEqual([other.id]);
  });

  it("keeps no plain settle of other jobs from being done", async () => {
    await insertSome(store, 2, { dedupe: null });
    await insertSome(store, 1, { dedupe: key("a document of its own") });
    const leased = await takeExactly(store, 3);
    const mine = leased[2];
    assert.ok(mine);
    await inside.settle([settlement(mine, succeed())]);
    const ended = leased.map((job) => settlement(job, succeed()));
    expect(await store.settle(ended)).toEqual(["settled", "settled", "busy"]);
    await tx.commitTransaction();
    expect(await store.settle(ended)).toEqual(["settled", "settled", "settled"]);
  });

  it("keeps no other renewal from being answered if one carries something for its own job", async () => {
    await insertSome(store, 2);
    const [mine, other] = await takeExactly(store, 2);
    assert.ok(mine && other);
    await inside.settle([settlement(mine, succeed())]);
    const carrying = { ...leaseRef(mine), updates: { checkpoint: "1" } };
    expect(await store.renew([carrying, leaseRef(other)], LONG_MS)).toEqual(["busy", "kept"]);
    await tx.abortTransaction();
    expect(await store.renew([carrying], LONG_MS)).toEqual(["kept"]);
    expect((await jobOf(store, mine)).checkpoint).toBe("1");
  });

  it("keeps only those waiting who want the very same key, and not for ever", async () => {
    await inside.insert([newJob({ dedupe: key("k") })]);
    const jobs = [newJob({ dedupe: key("k") }), newJob(), newJob({ dedupe: key("other") })];
    const results = await store.insert(jobs);
    expect(results.map(({ outcome }) => outcome)).toEqual(["busy", "added", "added"]);
    await tx.abortTransaction();
    await insertSome(store, 1, { dedupe: key("k") });
  });
});

describe("a transaction that has ended", () => {
  it("is not open while its session is in another one, and takes nothing more", async () => {
    await inside.insert([newJob()]);
    expect(inside.isOpen()).toBe(true);
    await tx.commitTransaction();
    expect(inside.isOpen()).toBe(false);
    tx.startTransaction();
    expect(inside.isOpen()).toBe(false);
    expect(store.within?.(tx).isOpen()).toBe(true);
    await expect(inside.insert([newJob()])).rejects.toThrow(NotInTransactionError);
    await tx.abortTransaction();
    expect((await countsOf(store)).ready).toBe(1);
  });

  it("is not open if nobody looked before its session began another one", async () => {
    await tx.abortTransaction();
    tx.startTransaction();
    expect(inside.isOpen()).toBe(false);
  });

  it("is not open once its session or its client is gone", async () => {
    const client = new MongoClient(await urlOf(database));
    const session = client.startSession();
    session.startTransaction();
    const other = store.within?.(session);
    await other?.insert([newJob()]);
    await session.endSession();
    expect(other?.isOpen()).toBe(false);
    await client.close();
    expect(other?.isOpen()).toBe(false);
  });

  it("tells of its jobs also if its session has begun another one at once", async () => {
    const heard = new Promise((resolve) => {
      store.onWakeup(({ queues }) => resolve(queues));
    });
    await inside.insert([newJob()]);
    await tx.commitTransaction();
    tx.startTransaction();
    expect(await heard).toEqual([QUEUE]);
  });
});

describe("within", () => {
  it("takes a session of another client of the same database", async () => {
    const stranger = mongodbStore({ url: await urlOf(database) });
    await stranger.open();
    await stranger.within?.(tx).insert([newJob()]);
    await tx.commitTransaction();
    expect((await countsOf(stranger)).ready).toBe(1);
    await stranger.close();
  });

  it("refuses a session that has no transaction", async () => {
    const idle = database.client.startSession();
    expect(() => store.within?.(idle)).toThrow(NotInTransactionError);
    await idle.endSession();
  });
});

/** Of this very database. */
async function urlOf({ client, db }: MongodbDatabase): Promise<string> {
  const { hosts, replicaSet } = client.options;
  return `mongodb://${hosts.join(",")}/${db.databaseName}?replicaSet=${replicaSet}`;
}

describe("a job of a pack that is settled in a transaction", () => {
  let now: number;
  let isDead: boolean;
  let other: Store;
  let dying: Store;

  beforeEach(async () => {
    now = Date.UTC(2031, 0, 1);
    isDead = false;
    const db = intercepted(database, async (_, run) => {
      if (isDead) throw new Died("kill -9");
      return run();
    });
    dying = mongodbStore({ db, now: () => now });
    other = mongodbStore({ db: database.db, now: () => now });
    await Promise.all([dying.open(), other.open()]);
  });
  afterEach(async () => {
    isDead = false;
    await Promise.all([dying.close(), other.close()]);
  });

  /** Two jobs of a queue that runs one at a time; the first is leased and settled inside. */
  async function settledInside(): Promise<string> {
    await other.limit([{ queue: QUEUE, group: null, maxActive: 1 }]);
    await insertSome(other, 2);
    const [job] = await takeExactly(dying, 1, { leaseMs: LONG_MS });
    assert.ok(job);
    await dying.within?.(tx).settle([settlement(job, succeed("1"))]);
    return job.id;
  }

  /** What was committed this very moment may look locked to one reaping (`locks.ts`): then the next one does it. */
  async function reapedToTheEnd(): Promise<void> {
    await vi.waitFor(
      async () => {
        expect(await other.reap({ limit: 10 })).toEqual([]);
        expect((await countsOf(other)).processing).toBe(0);
      },
      // On a machine with much to do one reaping takes its time.
      { timeout: 10_000 },
    );
  }

  async function onlyTheOtherIsLeft(id: string): Promise<void> {
    expect((await jobOf(other, { id })).status).toBe("succeeded");
    expect(await countsOf(other)).toMatchObject({ ready: 1, processing: 0, succeeded: 1 });
    await takeExactly(other, 1);
  }

  it("is not counted as running right after the commit", async () => {
    const id = await settledInside();
    await tx.commitTransaction();
    expect(await countsOf(dying)).toMatchObject({ ready: 1, processing: 0, succeeded: 1 });
    expect((await jobOf(dying, { id })).status).toBe("succeeded");
  });

  it("is not reaped after a renewal said that it is kept, when the transaction ends", async () => {
    await insertSome(other, 2);
    const leased = await takeExactly(dying, 2, { leaseMs: LONG_MS });
    const [mine] = leased;
    assert.ok(mine);
    await dying.within?.(tx).settle([settlement(mine, succeed("1"))]);
    now += LONG_MS - 1;
    expect(await dying.renew(leased.map(leaseRef), LONG_MS)).toEqual(["kept", "kept"]);
    // Its holder believes that it has ended: the word did not arrive, and the server ends it later.
    now += 2;
    expect(await other.reap({ limit: 10 })).toEqual([]);
    await tx.abortTransaction();
    expect(await other.reap({ limit: 10 })).toEqual([]);
    now += LONG_MS;
    expect(await other.reap({ limit: 10 })).toHaveLength(2);
  });

  it("is waited for by no reaping, and by a renewal of others once", async () => {
    let late = 0;
    const db = intercepted(database, async (_, run) => {
      try {
        const reply = await run();
        if (JSON.stringify(reply)?.includes("MaxTimeMSExpired")) late += 1;
        return reply;
      } catch (error) {
        if (isTooLate(error)) late += 1;
        throw error;
      }
    });
    const watched = mongodbStore({ db, now: () => now });
    await watched.open();
    await insertSome(other, 3);
    const leased = await takeExactly(other, 3, { leaseMs: LONG_MS });
    const [mine, ...others] = leased;
    assert.ok(mine);
    await other.within?.(tx).settle([settlement(mine, succeed("1"))]);
    expect(await watched.renew(others.map(leaseRef), LONG_MS)).toEqual(["kept", "kept"]);
    expect(late).toBeGreaterThan(0);
    late = 0;
    expect(await watched.renew(others.map(leaseRef), LONG_MS)).toEqual(["kept", "kept"]);
    for (const reaper of [watched, dying]) {
      now += LONG_MS;
      await reaper.reap({ limit: 10 });
    }
    expect(late).toBe(0);
    await tx.abortTransaction();
    expect((await watched.reap({ limit: 10 })).map(({ id }) => id)).toEqual([mine.id]);
    await watched.close();
  });

  it("leaves no pack behind if its process dies after the commit", async () => {
    const id = await settledInside();
    isDead = true;
    await tx.commitTransaction();
    now += LONG_MS;
    await reapedToTheEnd();
    await onlyTheOtherIsLeft(id);
  });

  it("leaves no pack behind if the transaction stays open for longer than the lease", async () => {
    const id = await settledInside();
    isDead = true;
    now += LONG_MS;
    expect(await other.reap({ limit: 10 })).toEqual([]);
    now += 60_000;
    await tx.commitTransaction();
    await reapedToTheEnd();
    await onlyTheOtherIsLeft(id);
  });
});

describe("a worker whose handler has a transaction open", () => {
  it(
    "keeps its lease also if the server has lost the transaction",
    { timeout: 30_000 },
    async () => {
      const silent = { debug() {}, info() {}, warn() {}, error() {} };
      const hf = new Holdfast({ store: mongodbStore({ db: database.db }), logger: silent });
      let isSettled: () => void;
      let goOn: () => void;
      const settled = new Promise<void>((resolve) => (isSettled = resolve));
      const released = new Promise<void>((resolve) => (goOn = resolve));
      hf.define({
        type: "book",
        async run(job) {
          if (job.attempt > 1) return;
          await job.settleWithin(tx, {});
          isSettled();
          await released;
          await tx.commitTransaction();
        },
      });
      const worker = await hf.work({ leaseMs: 3_000, concurrency: 1 });
      const receipt = await hf.enqueue("book", null);
      await settled;
      const { leaseUntil: before } = await jobOf(store, receipt);
      assert.ok(before !== null && tx.id !== undefined);
      await database.client.db("admin").command({ killSessions: [tx.id] });
      await vi.waitFor(
        async () => expect((await jobOf(store, receipt)).leaseUntil).toBeGreaterThan(before),
        { timeout: 10_000 },
      );
      goOn!();
      // Its commit failed, and that is a failure of its own: no crash.
      await hf.waitFor(receipt, { timeoutMs: 20_000 });
      expect(await jobOf(store, receipt)).toMatchObject({ status: "succeeded", crashes: 0 });
      await worker.stop({ graceMs: 0 });
      await hf.close();
    },
  );
});
