/**
 * The statements of the verbs that run all day, as SQLite plans them. None may walk the jobs, what is
 * ready or what is done, and none may be planned anew for every call.
 */
import assert from "node:assert/strict";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { describe, it } from "vitest";
import type { Store } from "../../core/store.ts";
import { key, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRef, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import type { DatabaseLike } from "./database-like.ts";
import { sqliteStore } from "./index.ts";

/** Tables (or what the statements call them) that may be large. */
const LARGE = /SCAN (j|r|x|d|holdfast_(job|ready|done|later|key|gone|ledger|record))\b/;

/** A database that remembers its statements. */
class Recorder {
  readonly database = new DatabaseSync(":memory:");
  readonly statements = new Map<string, StatementSync>();

  readonly driver: DatabaseLike;

  constructor() {
    const { database, statements } = this;
    this.driver = {
      prepare(sql) {
        const statement = database.prepare(sql);
        statements.set(sql, statement);
        return statement;
      },
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      get isTransaction() {
        return database.isTransaction;
      },
    };
  }

  plans(): [sql: string, plan: string][] {
    return [...this.statements.keys()]
      .filter((sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE)/.test(sql))
      .map((sql) => {
        const steps = this.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
        return [sql, steps.map((step) => String(step["detail"])).join("\n")];
      });
  }
}

/** The life of jobs, by every way that workers and producers use all day. */
async function work(store: Store): Promise<void> {
  await store.insert(newJobs(20));
  await store.insert(newJobs(5, { delayMs: 60_000, tags: ["a"] }));
  for (let group = 0; group < 5; group++) await store.insert(newJobs(4, { group: `g${group}` }));
  await store.insert([newJob({ dedupe: key("k") }), newJob({ dedupe: key("k") })]);
  await store.limit([{ queue: QUEUE, group: "g1", maxActive: 1 }]);
  const hold = { forMs: 60_000, reason: "closed", by: null };
  await store.hold([{ queue: QUEUE, group: "g2", owner: "pause", hold }]);
  for (let round = 0; round < 4; round++) {
    const { jobs } = await store.lease(leaseRequest(round === 0 ? 2 : 8));
    await store.renew(jobs.map(leaseRef), 1_000);
    const settlements = jobs.map((job, index) =>
      index % 3 === 0
        ? settlement(job, retry(0), { updates: { logs: ["x"], checkpoint: "1" } })
        : settlement(job, succeed(), {
            discard: index % 3 === 1,
            spawn: index === 2 ? [newJob()] : [],
          }),
    );
    await store.settle(settlements);
    await store.settle(settlements);
    await store.get(jobs);
  }
  await store.reap({ limit: 10 });
  await store.now();
  await store.count();
}

describe("the plans of the statements that run all day", () => {
  it("find what they want by an index", async () => {
    const recorder = new Recorder();
    const store = sqliteStore({ database: recorder.driver });
    await store.open();
    recorder.statements.clear();
    await work(store);
    const plans = recorder.plans();
    assert.ok(plans.length > 40, "the statements were recorded");
    for (const [sql, plan] of plans) assert.doesNotMatch(plan, LARGE, `${sql}\n${plan}`);
    const large = plans.filter(([sql]) => /holdfast_(ready|later|done)/.test(sql));
    for (const [sql, plan] of large) assert.doesNotMatch(plan, /TEMP B-TREE/, sql);
    await store.close();
    recorder.database.close();
  });

  it("are made once, not for every call", async ({ skip }) => {
    const recorder = new Recorder();
    const store = sqliteStore({ database: recorder.driver });
    await store.open();
    recorder.statements.clear();
    await work(store);
    for (const [sql, statement] of recorder.statements) {
      const { stat } = statement as { stat?: (counter: string) => number };
      if (stat === undefined) skip("this Node does not count how often a statement is prepared");
      assert.equal(stat?.call(statement, "reprepare"), 0, sql);
    }
    await store.close();
    recorder.database.close();
  });
});
