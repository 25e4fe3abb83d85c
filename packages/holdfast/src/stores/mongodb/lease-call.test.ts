/** Leases of which a part fails, and leases with a bound in bytes. */
import assert from "node:assert/strict";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  intercepted,
  mongodbWorld,
  type Write,
} from "../../../../../test/servers/mongodb-world.ts";
import { serverUrl } from "../../../../../test/servers/server-desk.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { idsOf, key, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRef, release, renew, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../testing/conformance/take.ts";
import { mongodbStore } from "./index.ts";

const world = mongodbWorld();
const QUEUES = ["mail", "sms"];
const LOST = "host:7:lost";

/** As the driver throws it when a connection breaks. */
function broken(): Error {
  return Object.assign(new Error("connection closed"), { name: "MongoNetworkError" });
}

describe("a lease of which a later step fails", () => {
  let store: Store;
  /** What becomes of the claims, one after the other; `lost`: it is done, and its reply gets lost. */
  let claims: ("done" | "fails" | "lost")[];

  beforeEach(async () => {
    claims = [];
    const isClaim = ({ verb, collection }: Write): boolean =>
      collection === "jobs" && (verb === "insert" || verb === "update");
    const db = intercepted(world.database, async (write, run) => {
      const fate = isClaim(write) ? (claims.shift() ?? "done") : "done";
      if (fate === "fails") throw broken();
      const reply = await run();
      if (fate === "lost") throw broken();
      return reply;
    });
    store = await world.process(db);
  });
  afterEach(() => store.close());

  async function insertInto(queue: string, count = 2): Promise<string[]> {
    const jobs = newJobs(count, { queue });
    await world.store.insert(jobs, { areNew: true });
    return jobs.map(({ id }) => id);
  }

  it("answers what an earlier step has claimed, and where others may be", async () => {
    const [mail] = [await insertInto("mail"), await insertInto("sms")];
    claims = ["done", "lost"];
    const request = leaseRequest(4, { queues: QUEUES, worker: LOST });
    const { jobs, nextInMs, unsure } = await store.lease(request);
    expect(idsOf(jobs)).toEqual(mail);
    expect({ nextInMs, unsure }).toEqual({ nextInMs: 0, unsure: ["sms"] });
    const except = jobs.map(leaseRef);
    expect(await store.disown({ worker: LOST, queues: ["sms"], except })).toBe(2);
    for (const job of jobs) expect(await renew(store, job)).toBe("kept");
  });

  it("answers what one of its steps has claimed of a queue where another one fails", async () => {
    await insertInto("mail", 1);
    const [back] = await takeExactly(world.store, 1);
    assert.ok(back);
    await settle(world.store, back, release());
    const fresh = await insertInto("mail");
    // The insert of the fresh ones, then the update of the one that has a past.
    claims = ["done", "fails"];
    const { jobs, unsure } = await store.lease(leaseRequest(4));
    expect(idsOf(jobs)).toEqual(fresh);
    expect(unsure).toEqual(["mail"]);
  });

  it("is in no doubt about a queue in which it only failed to look", async () => {
    const [mail] = [await insertInto("mail"), await insertInto("sms")];
    let isBroken = false;
    const db = intercepted(world.database, async ({ verb, collection }, run) => {
      const reply = await run();
      isBroken ||= verb === "insert" && collection === "jobs";
      return reply;
    });
    const collection: typeof db.collection = (name, options) =>
      new Proxy(db.collection(name, options), {
        get(target, at) {
          if (at === "aggregate" && isBroken) throw broken();
          return Reflect.get(target, at) as unknown;
        },
      });
    const other = await world.process({ ...db, collection });
    const reply = await other.lease(leaseRequest(4, { queues: QUEUES }));
    expect(idsOf(reply.jobs)).toEqual(mail);
    expect(reply).toEqual({ jobs: reply.jobs, nextInMs: 0 });
    await other.close();
  });

  it("answers what is known when its time is up, and claims no more after that", async () => {
    const [mail] = [await insertInto("mail"), await insertInto("push"), await insertInto("sms")];
    const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>();
    let inserts = 0;
    const db = intercepted(world.database, async ({ verb, collection }, run) => {
      const isClaim = verb === "insert" && collection === "jobs";
      if (isClaim && ++inserts === 2) await isAnswered;
      return run();
    });
    const slow = mongodbStore({ db, now: () => world.now, deadlineMs: 500 });
    await slow.open();
    const queues = ["mail", "push", "sms"];
    const { jobs, unsure } = await slow.lease(leaseRequest(6, { queues, worker: LOST }));
    expect(idsOf(jobs)).toEqual(mail);
    expect(unsure).toEqual(["push"]);
    answered();
    // Waits for what is still under way.
    await slow.close();
    expect(inserts).toBe(2);
    const except = jobs.map(leaseRef);
    expect(await store.disown({ worker: LOST, queues, except })).toBe(2);
  });

  it("throws if nothing is known to be claimed", async () => {
    await insertInto("mail");
    claims = ["lost"];
    const request = leaseRequest(4, { queues: QUEUES, worker: LOST });
    await expect(store.lease(request)).rejects.toThrow(StoreUnavailableError);
    expect(await store.disown({ worker: LOST, queues: QUEUES, except: [] })).toBe(2);
  });
});

describe("a lease with a bound in bytes", () => {
  const KB = 1024;

  function text(kilobytes: number): string {
    return JSON.stringify("x".repeat(kilobytes * KB));
  }

  it("reads little more than it hands out", async () => {
    const client = new MongoClient(await serverUrl("mongodb-standalone"), {
      monitorCommands: true,
    });
    let read = 0;
    client.on("commandSucceeded", ({ reply }) => (read += JSON.stringify(reply).length));
    const store = await world.process(client.db(world.database.db.databaseName));
    for (const [jobs, most] of [
      [newJobs(20, { payload: text(500) }), 4],
      [newJobs(20, { payload: text(500), group: "a" }), 4],
      [Array.from({ length: 20 }, (_, at) => newJob({ payload: text(500), group: `${at}` })), 4],
    ] as const) {
      await world.store.insert(jobs, { areNew: true });
      read = 0;
      const request = leaseRequest(20, { maxBytes: 2_000 * KB });
      const { jobs: leased } = await store.lease(request);
      assert.ok(leased.length >= 1 && leased.length <= most, `${leased.length} jobs`);
      assert.ok(read <= 3_000 * KB, `${read} bytes were read`);
      for (const { payload } of leased) expect(payload).toHaveLength(500 * KB + 2);
      for (let left = jobs.length - leased.length; left > 0;) {
        left -= (await store.lease(request)).jobs.length;
      }
    }
    await store.close();
    await client.close();
  });

  it("takes a part of a document of several jobs, and the rest of it next time", async () => {
    const jobs = newJobs(30, { payload: text(1) });
    await world.store.insert(jobs, { areNew: true });
    const leased: LeasedJob[] = [];
    for (let calls = 0; leased.length < 30; calls++) {
      assert.ok(calls < 10, "each takes about ten");
      const reply = await world.store.lease(leaseRequest(30, { maxBytes: 10.5 * KB }));
      assert.ok(reply.jobs.length >= 1 && reply.jobs.length <= 10);
      leased.push(...reply.jobs);
    }
    expect(idsOf(leased)).toEqual(idsOf(jobs));
  });

  it("hands out long payloads of all kinds of jobs as they are", async () => {
    const payload = text(40);
    const kinds = [newJob({ payload }), newJob({ payload, dedupe: key("k") })];
    await world.store.insert([...kinds, newJob({ payload, maxAttempts: 0 })], { areNew: true });
    const request = leaseRequest(10, { maxBytes: 100 * KB });
    const first = (await world.store.lease(request)).jobs;
    const second = (await world.store.lease(request)).jobs;
    const all = [...first, ...second];
    expect(all.map((job) => [job.payload === payload, job.attempt, job.exhausted])).toEqual([
      ...[
        [true, 1, false],
        [true, 1, false],
        [true, 0, true],
      ],
    ]);
    for (const job of all) await settle(world.store, job, release());
  });

  it("gives every line and every queue its turn", async () => {
    const payload = text(10);
    const groups = ["a", "b", "c"];
    for (const queue of QUEUES) {
      const jobs = groups.flatMap((group) => newJobs(4, { queue, group, payload }));
      await world.store.insert(jobs, { areNew: true });
    }
    const seen: string[] = [];
    for (let calls = 0; calls < 6; calls++) {
      const request = leaseRequest(12, { queues: QUEUES, maxBytes: 15 * KB });
      for (const { queue, group } of (await world.store.lease(request)).jobs) {
        seen.push(`${queue} ${group}`);
      }
    }
    expect(new Set(seen).size).toBe(6);
  });

  it("is no bound to a job that comes first", async () => {
    await world.store.insert(newJobs(2, { payload: text(50) }), { areNew: true });
    const { jobs, nextInMs } = await world.store.lease(leaseRequest(2, { maxBytes: 1 }));
    expect([jobs.length, nextInMs, jobs[0]?.queue]).toEqual([1, 0, QUEUE]);
  });
});
