import assert from "node:assert/strict";
import type { AdoptedJob } from "../../core/job.ts";
import type { JobFilter, Store } from "../../core/store.ts";
import { findAll, jobOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  adoptOne,
  idsOf,
  insertAll,
  insertOne,
  insertSome,
  newId,
  newJob,
  QUEUE,
  sortedIdsOf,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { die, FAILURE, renew, retry, settle, succeed } from "./settling.ts";
import { takeExactly, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

async function assertFound(
  store: Store,
  filter: JobFilter,
  expected: readonly { readonly id: string }[],
): Promise<void> {
  assert.deepEqual(sortedIdsOf(await findAll(store, filter)), sortedIdsOf(expected));
}

const NOBODY = { reason: null, by: null };

/** Twenty jobs of each status that an operator may look for among thousands of others. */
async function few(store: Store) {
  const of = (status: "dead" | "cancelled" | "succeeded", queue = QUEUE) =>
    Array.from({ length: 20 }, (_, index) =>
      adoptedJob({
        ...{ status, queue, group: "few", type: "few", tags: ["few"] },
        ...{ createdAt: 2_000 + index, finishedAt: 3_000 + index },
        error: status === "dead" ? { ...FAILURE, category: "auth", fingerprint: "few" } : null,
      }),
    );
  const finished = {
    dead: of("dead"),
    cancelled: of("cancelled"),
    succeeded: of("succeeded", "quiet"),
  };
  for (const jobs of Object.values(finished)) await adoptAll(store, jobs);
  await insertSome(store, 20, { group: "few" });
  const processing = await takeExactly(store, 20, { worker: "few" });
  const queued = await insertSome(store, 20, { group: "few" });
  return { ...finished, processing, queued };
}

/** Newer than all of the few: more of each kind than a store looks through in one step. */
async function crowd(store: Store): Promise<void> {
  const now = await store.now();
  for (let batch = 0; batch < 25; batch++) {
    const done = adoptedJob({ status: "succeeded", createdAt: now, finishedAt: now });
    const died = { ...done, status: "dead", queue: "other", error: FAILURE } as const;
    await adoptAll(store, [...copiesOf(done, 100), ...copiesOf(died, 100)]);
    await insertSome(store, 100, { group: `crowd-${batch % 7}` });
  }
}

function copiesOf(job: AdoptedJob, count: number): AdoptedJob[] {
  return Array.from({ length: count }, () => ({ ...job, id: newId() }));
}

export const find = chapter("find", {
  "without a filter all jobs are found": async ({ store }) => {
    const jobs = [newJob(), newJob({ queue: "sms" }), newJob({ delayMs: LONG_MS })];
    await insertAll(store, jobs);
    await takeOne(store);
    await assertFound(store, {}, jobs);
  },

  "jobs are found by status, one or several": async ({ store }) => {
    await insertSome(store, 2);
    const [running] = await takeExactly(store, 1);
    const [dead, done] = [
      await adoptOne(store, { status: "dead", finishedAt: 1_000_400 }),
      await adoptOne(store, { status: "succeeded", finishedAt: 1_000_400 }),
    ];
    assert.ok(running);
    await assertFound(store, { status: ["processing"] }, [running]);
    await assertFound(store, { status: ["dead", "succeeded"] }, [dead, done]);
    await assertFound(store, { status: ["cancelled"] }, []);
  },

  "waiting jobs are found by whether they are due": async ({ store, place }) => {
    const [soon, late, ready] = [
      await insertOne(store, { delayMs: SHORT_MS }),
      await insertOne(store, { delayMs: LONG_MS }),
      await insertOne(store),
    ];
    await place.advance(PASSED_MS);
    await assertFound(store, { delayed: true }, [late]);
    await assertFound(store, { delayed: false }, [soon, ready]);
    await takeExactly(store, 2);
    await assertFound(store, { delayed: false }, []);
  },

  "jobs are found by queue": async ({ store }) => {
    await insertSome(store, 2);
    const sms = await insertSome(store, 2, { queue: "sms" });
    await assertFound(store, { queue: "sms" }, sms);
    await assertFound(store, { queue: "unheard-of" }, []);
  },

  "jobs are found by group, and those without one by the empty group": async ({ store }) => {
    const plain = await insertSome(store, 2);
    const grouped = await insertSome(store, 2, { group: "tenant-7" });
    await assertFound(store, { queue: QUEUE, group: "tenant-7" }, grouped);
    await assertFound(store, { queue: QUEUE, group: "" }, plain);
    await assertFound(store, { group: "tenant-7" }, grouped);
  },

  "jobs are found by type": async ({ store }) => {
    await insertSome(store, 2);
    const invoices = await insertSome(store, 2, { type: "invoice.send" });
    await assertFound(store, { type: "invoice.send" }, invoices);
  },

  "jobs are found by a whole tag": async ({ store }) => {
    const tagged = await insertOne(store, { tags: ["eu", "monthly"] });
    await insertOne(store, { tags: ["europe"] });
    await insertOne(store, { tags: [] });
    await assertFound(store, { tag: "eu" }, [tagged]);
    await assertFound(store, { tag: "monthly" }, [tagged]);
  },

  "jobs are found by the category of their last failure": async ({ store }) => {
    const failure = { ...FAILURE, category: "auth" as const };
    const waiting = await insertOne(store);
    await settle(store, await takeOne(store), {
      kind: "retry",
      afterMs: LONG_MS,
      spend: true,
      failure,
    });
    const dead = await insertOne(store);
    await settle(store, await takeOne(store), die("failed", failure));
    await insertOne(store);
    await settle(store, await takeOne(store), die());
    await assertFound(store, { category: "auth" }, [waiting, dead]);
    await assertFound(store, { category: "auth", status: ["dead"] }, [dead]);
  },

  "jobs are found by the fingerprint of their last failure": async ({ store }) => {
    const failure = { ...FAILURE, fingerprint: "f1" };
    const waiting = await insertOne(store);
    await settle(store, await takeOne(store), retry(LONG_MS, failure));
    const dead = await insertOne(store);
    await settle(store, await takeOne(store), die("failed", failure));
    await insertOne(store);
    await settle(store, await takeOne(store), die());
    await assertFound(store, { fingerprint: "f1" }, [waiting, dead]);
    await assertFound(store, { fingerprint: "f1", status: ["dead"] }, [dead]);
  },

  "jobs are found by the worker of their newest attempt": async ({ store }) => {
    const jobs = await insertSome(store, 3);
    const [first] = jobs;
    assert.ok(first);
    await settle(store, await takeOne(store, { worker: "a" }), succeed());
    const second = await takeOne(store, { worker: "a" });
    const third = await takeOne(store, { worker: "b" });
    await assertFound(store, { worker: "a" }, [first, second]);
    await assertFound(store, { worker: "a", status: ["processing"] }, [second]);
    await assertFound(store, { worker: "b", status: ["processing"], queue: QUEUE }, [third]);
  },

  "waiting jobs are found by whether attempts are behind them": async ({ store }) => {
    const again = await insertOne(store);
    await settle(store, await takeOne(store), retry(LONG_MS));
    const fresh = await insertOne(store);
    await insertOne(store, { priority: 0 });
    await takeOne(store);
    await assertFound(store, { retrying: true }, [again]);
    await assertFound(store, { retrying: false }, [fresh]);
    await assertFound(store, { retrying: true, queue: QUEUE, delayed: true }, [again]);
  },

  "jobs are found by when they finished, and then only finished ones": async ({ store }) => {
    const jobs = [1_000, 2_000, 3_000].map((finishedAt) =>
      adoptedJob({ status: "dead", createdAt: 500, finishedAt }),
    );
    await adoptAll(store, jobs);
    await insertOne(store);
    await assertFound(store, { finishedFrom: 2_000 }, jobs.slice(1));
    await assertFound(store, { finishedTo: 2_000 }, jobs.slice(0, 1));
    await assertFound(store, { finishedFrom: 2_000, finishedTo: 3_000 }, jobs.slice(1, 2));
  },

  "a page without payloads has everything else": async ({ store }) => {
    await insertOne(store, { payload: '{"large":1}', tags: ["a"] });
    await settle(store, await takeOne(store), succeed('{"also":"large"}'));
    const [whole] = await findAll(store, {});
    const { jobs } = await store.find({}, { limit: 10, without: "payloads" });
    assert.ok(whole);
    assert.deepEqual(jobs, [{ ...whole, payload: "null", result: null }]);
  },

  "a page of what an operator looks for is full, however many other jobs are newer": async ({
    store,
  }) => {
    const wanted = await few(store);
    await crowd(store);
    const queue = QUEUE;
    const pages: readonly (readonly [JobFilter, readonly { readonly id: string }[]])[] = [
      ...(["dead", "cancelled"] as const).flatMap((status) =>
        [
          { queue },
          { group: "few" },
          { type: "few" },
          { tag: "few" },
          { from: 1, to: 10_000 },
          { finishedFrom: 1, finishedTo: 10_000 },
          { queue, type: "few", tag: "few" },
        ].map((more) => [{ status: [status], ...more }, wanted[status]] as const),
      ),
      [{ status: ["cancelled"] }, wanted.cancelled],
      [{ status: ["dead"], category: "auth" }, wanted.dead],
      [{ status: ["dead"], fingerprint: "few" }, wanted.dead],
      [{ status: ["dead"], queue, fingerprint: "few", tag: "few" }, wanted.dead],
      [{ status: ["processing"] }, wanted.processing],
      [{ status: ["processing"], worker: "few" }, wanted.processing],
      [{ status: ["processing"], queue }, wanted.processing],
      [{ status: ["queued"], queue, group: "few" }, wanted.queued],
      [{ status: ["succeeded"], queue: "quiet" }, wanted.succeeded],
      [{ status: ["succeeded"], queue: "quiet", finishedTo: 10_000 }, wanted.succeeded],
      [{ queue: "quiet" }, wanted.succeeded],
    ];
    for (const [filter, jobs] of pages) {
      const { jobs: found } = await store.find(filter, { limit: jobs.length });
      assert.deepEqual(sortedIdsOf(found), sortedIdsOf(jobs), JSON.stringify(filter));
    }
  },

  "jobs are found by when they were created, from inclusive, to exclusive": async ({ store }) => {
    const jobs = [1_000, 2_000, 3_000].map((createdAt) => adoptedJob({ createdAt }));
    await adoptAll(store, jobs);
    await assertFound(store, { from: 2_000 }, jobs.slice(1));
    await assertFound(store, { to: 2_000 }, jobs.slice(0, 1));
    await assertFound(store, { from: 2_000, to: 3_000 }, jobs.slice(1, 2));
  },

  "all conditions must hold": async ({ store }) => {
    const wanted = await insertOne(store, { group: "a", type: "x", tags: ["t"] });
    await insertOne(store, { group: "b", type: "x", tags: ["t"] });
    await insertOne(store, { group: "a", type: "y", tags: ["t"] });
    await insertOne(store, { group: "a", type: "x" });
    await insertOne(store, { queue: "sms", group: "a", type: "x", tags: ["t"] });
    const filter: JobFilter = {
      status: ["queued"],
      queue: QUEUE,
      group: "a",
      type: "x",
      tag: "t",
      from: 0,
      to: (await store.now()) + LONG_MS,
    };
    await assertFound(store, filter, [wanted]);
  },

  "the newest job is first, or the oldest if that is asked": async ({ store }) => {
    const jobs = [...(await insertSome(store, 7)), ...(await insertSome(store, 5))];
    const newest = await findAll(store, { queue: QUEUE });
    assert.deepEqual(idsOf(newest), idsOf(jobs.toReversed()));
    const oldest = await findAll(store, { queue: QUEUE }, { order: "oldest" });
    assert.deepEqual(idsOf(oldest), idsOf(jobs));
  },

  "the order of jobs does not change with what becomes of them": async ({ store }) => {
    const jobs = await insertSome(store, 5);
    const leased = await takeExactly(store, 3);
    await settle(store, leased[2] ?? assert.fail(), succeed());
    await settle(store, leased[0] ?? assert.fail(), die());
    await store.reschedule(
      { ids: [{ id: jobs[4]?.id ?? "" }] },
      { delayMs: LONG_MS, runAt: null },
      NOBODY,
    );
    const found = await findAll(store, { queue: QUEUE }, { order: "oldest" });
    assert.deepEqual(idsOf(found), idsOf(jobs));
  },

  "pages follow each other without gap or repetition": async ({ store }) => {
    const jobs = await insertSome(store, 25);
    for (const order of ["newest", "oldest"] as const) {
      const found = await findAll(store, { queue: QUEUE }, { limit: 4, order });
      assert.deepEqual(idsOf(found), idsOf(order === "oldest" ? jobs : jobs.toReversed()));
    }
  },

  "pages over several queues show each job once": async ({ store }) => {
    const jobs = Array.from({ length: 30 }, (_, index) => newJob({ queue: `q${index % 3}` }));
    await insertAll(store, jobs);
    const found = await findAll(store, {}, { limit: 4 });
    assert.deepEqual(sortedIdsOf(found), sortedIdsOf(jobs));
  },

  "jobs that come or move while one pages are no trouble to the others": async ({ store }) => {
    const jobs = await insertSome(store, 20);
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 100; page++) {
      const reply = await store.find({ queue: QUEUE }, { limit: 3, cursor });
      seen.push(...idsOf(reply.jobs));
      if (reply.nextCursor === null) break;
      cursor = reply.nextCursor;
      await insertOne(store);
      await settle(store, await takeOne(store), succeed());
    }
    const first = new Set(idsOf(jobs));
    const seenOfThese = seen.filter((id) => first.has(id));
    assert.deepEqual(seenOfThese, idsOf(jobs.toReversed()));
    assert.equal(new Set(seen).size, seen.length);
  },

  "a filter whose jobs leave it while one pages shows the others once": async ({ store }) => {
    const jobs = await insertSome(store, 12);
    const first = await store.find(
      { queue: QUEUE, status: ["queued"] },
      { limit: 3, order: "oldest" },
    );
    const leased = await takeExactly(store, 6);
    const rest: string[] = [];
    let cursor = first.nextCursor;
    while (cursor !== null) {
      const reply = await store.find(
        { queue: QUEUE, status: ["queued"] },
        { limit: 3, order: "oldest", cursor },
      );
      rest.push(...idsOf(reply.jobs));
      cursor = reply.nextCursor;
    }
    const gone = new Set(idsOf(leased));
    const staying = idsOf(jobs).filter((id) => !gone.has(id));
    assert.deepEqual(
      rest.filter((id) => !gone.has(id)),
      staying,
    );
    assert.equal(new Set([...idsOf(first.jobs), ...rest]).size, first.jobs.length + rest.length);
  },

  "a found job shows what a look at it shows": async ({ store }) => {
    const job = await insertOne(store, { tags: ["a"], meta: "{}" });
    const leased = await takeOne(store);
    await renew(store, leased, { progress: { percent: 50, message: "half way" } });
    const [found] = await findAll(store, {});
    assert.ok(found);
    const whole = await jobOf(store, job);
    assert.deepEqual({ ...whole, ...found }, whole);
    for (const field of ["payload", "status", "progress", "leaseUntil", "tags"] as const) {
      assert.ok(field in found);
    }
  },

  "a removed job is not found": async ({ store }) => {
    const [first, second] = await insertSome(store, 2);
    assert.ok(first && second);
    await store.remove({ ids: [{ id: first.id }] }, NOBODY);
    await assertFound(store, {}, [second]);
  },
});
