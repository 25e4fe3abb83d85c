/** A bound in bytes, where the conformance suite cannot look: turns, fresh jobs, and what is read. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { LeasedJob, Store } from "../../core/store.ts";
import { idsOf, insertOne, insertSome, newJob } from "../../testing/conformance/new-job.ts";
import { die, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import type { DatabaseLike, StatementLike } from "./database-like.ts";
import { sqliteStore } from "./index.ts";

const LONG = JSON.stringify("x".repeat(10_000));

let database: DatabaseSync;
let store: Store;
/** Long payloads that were read. */
let reads: number;

beforeEach(async () => {
  reads = 0;
  database = new DatabaseSync(":memory:");
  const watched: DatabaseLike = {
    prepare: (sql) => {
      const statement = database.prepare(sql);
      if (sql.startsWith("SELECT payload")) {
        const get = statement.get.bind(statement) as StatementLike["get"];
        return Object.assign<StatementLike, Pick<StatementLike, "get">>(statement, {
          get: (...values) => {
            reads++;
            return get(...values);
          },
        });
      }
      return statement;
    },
    exec: (sql) => database.exec(sql),
    close: () => {},
    get isTransaction() {
      return database.isTransaction;
    },
  };
  store = sqliteStore({ database: watched });
  await store.open();
});
afterEach(async () => {
  await store.close();
  database.close();
});

async function take(maxBytes: number): Promise<readonly LeasedJob[]> {
  return (await store.lease(leaseRequest(50, { maxBytes }))).jobs;
}

describe("a bound in bytes", () => {
  it("takes as much from one line as from another, and goes on where it stopped", async () => {
    for (const group of ["a", "b", "c"]) await insertSome(store, 8, { group, payload: LONG });
    const groups: string[] = [];
    for (let calls = 0; calls < 6; calls++) {
      for (const { group } of await take(45_000)) groups.push(group);
    }
    assert.deepEqual(groups, Array.from({ length: 8 }, () => ["a", "b", "c"]).flat());
  });

  it("keeps the turns of a heavy line", async () => {
    await store.limit([{ queue: "mail", group: "a", weight: 3 }]);
    await insertSome(store, 3, { group: "b", payload: LONG });
    await insertSome(store, 9, { group: "a", payload: LONG });
    const groups = (await take(85_000)).map(({ group }) => group);
    assert.equal(groups.filter((group) => group === "a").length, 6, groups.join());
  });

  it("holds for jobs that are leased in the transaction of their insert", async () => {
    const jobs = Array.from({ length: 6 }, () => newJob({ payload: LONG }));
    const inserting = store.insert(jobs);
    const leasing = store.lease(leaseRequest(6, { maxBytes: 25_000 }));
    await inserting;
    const { jobs: leased, nextInMs } = await leasing;
    assert.deepEqual(idsOf(leased), idsOf(jobs.slice(0, 2)));
    assert.equal(nextInMs, 0);
    assert.deepEqual(idsOf(await takeExactly(store, 4)), idsOf(jobs.slice(2)));
  });

  it("reads no long payload but what it hands out and the one that did not fit", async () => {
    await insertSome(store, 20, { payload: LONG });
    reads = 0;
    assert.equal((await take(35_000)).length, 3);
    assert.equal(reads, 4);
  });

  it("lets short jobs pass without a read for each", async () => {
    await insertSome(store, 20);
    reads = 0;
    assert.equal((await take(35_000)).length, 20);
    assert.equal(reads, 0);
  });

  it("knows a payload that was replaced", async () => {
    for (const json of [LONG, '"short"', LONG]) {
      const job = await insertOne(store, { payload: json === LONG ? '"short"' : LONG });
      await settle(store, await takeOne(store), die());
      const due = { delayMs: 0, runAt: null, attempts: 1 };
      const how = { ...due, payload: { json, hash: null } };
      await store.revive({ ids: [{ id: job.id }] }, how, { reason: null, by: null });
      reads = 0;
      const again = await takeOne(store);
      assert.equal(again.payload, json);
      assert.equal(reads, json === LONG ? 1 : 0);
    }
  });
});
