import assert from "node:assert/strict";
import type { Revival, Store } from "../../core/store.ts";
import { inSteps } from "./in-steps.ts";
import { FINISHED, jobOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  adoptOne,
  insertOne,
  key,
  newId,
  newJob,
  QUEUE,
  sortedIdsOf,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { die, FAILURE, renew, retry, settle, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const WHY = { reason: "the provider is back", by: "ann" };
const NOW: Revival = { delayMs: 0, runAt: null, attempts: 3 };

async function reviveOne(store: Store, job: { readonly id: string }, how = NOW): Promise<void> {
  const { changes } = await store.revive({ ids: [{ id: job.id }] }, how, WHY);
  assert.deepEqual(changes, [{ id: job.id, result: "done", status: "queued" }]);
}

/** A job that died in its second attempt, after a crash, with all that an attempt leaves behind. */
const DIED = {
  status: "dead",
  attempts: 2,
  maxAttempts: 2,
  crashes: 1,
  fence: 42,
  error: FAILURE,
  reason: "failed",
  checkpoint: '{"row":100}',
  steps: [{ name: "charge", value: '"ch_1"' }],
  logs: [{ at: 1_000_350, text: "refused" }],
  history: [
    {
      attempt: 2,
      fence: 42,
      worker: "old-worker",
      startedAt: 1_000_300,
      endedAt: 1_000_400,
      outcome: "failed",
      category: "network",
      message: "refused",
      stack: null,
    },
  ],
  startedAt: 1_000_300,
  finishedAt: 1_000_400,
} as const;

export const revive = chapter("revive", {
  "dead and cancelled jobs wait again under their own id": async ({ store }) => {
    for (const status of ["dead", "cancelled"] as const) {
      const job = await adoptOne(store, { status, finishedAt: 1_000_400 });
      await reviveOne(store, job);
      const { status: now, finishedAt } = await jobOf(store, job);
      assert.deepEqual([now, finishedAt], ["queued", null]);
      assert.equal((await takeOne(store)).id, job.id);
    }
  },

  "a revived job keeps its history, logs, checkpoint, steps and attempts": async ({ store }) => {
    const job = await adoptOne(store, DIED);
    await reviveOne(store, job);
    const { history, logs, checkpoint, steps, attempts, by } = await jobOf(store, job);
    assert.deepEqual(
      { history, logs, checkpoint, steps, attempts, by },
      {
        history: DIED.history,
        logs: DIED.logs,
        checkpoint: DIED.checkpoint,
        steps: DIED.steps,
        attempts: 2,
        by: "ann",
      },
    );
  },

  "a revived job gets so many attempts from now on": async ({ store }) => {
    const job = await adoptOne(store, DIED);
    await reviveOne(store, job, { ...NOW, attempts: 2 });
    assert.equal((await jobOf(store, job)).maxAttempts, 4);
    for (const expected of [3, 4]) {
      const leased = await takeOne(store);
      assert.deepEqual([leased.attempt, leased.exhausted], [expected, false]);
      await settle(store, leased, retry());
    }
    assert.equal((await takeOne(store)).exhausted, true);
  },

  "a revived job starts without crashes and deferrals": async ({ store }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), {
      kind: "retry",
      afterMs: 0,
      spend: false,
      failure: FAILURE,
    });
    await settle(store, await takeOne(store), die());
    await reviveOne(store, job);
    const { crashes, deferrals } = await jobOf(store, job);
    assert.deepEqual([crashes, deferrals], [0, 0]);
    const crashed = await adoptOne(store, { ...DIED, priority: 0 });
    await reviveOne(store, crashed);
    assert.equal((await takeOne(store)).crashes, 0);
  },

  "the fence of a revived job grows on": async ({ store }) => {
    const job = await insertOne(store);
    const first = await takeOne(store);
    await settle(store, first, die());
    await reviveOne(store, job);
    assert.ok((await jobOf(store, job)).fence >= first.fence);
    assert.ok((await takeOne(store)).fence > first.fence);
  },

  "a revival may wait": async ({ store, place }) => {
    const slow = await adoptOne(store, DIED);
    await reviveOne(store, slow, { ...NOW, delayMs: LONG_MS });
    await takeNothing(store);
    const quick = await adoptOne(store, DIED);
    await reviveOne(store, quick, { ...NOW, delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.equal((await takeOne(store)).id, quick.id);
  },

  "a revival may name its time": async ({ store }) => {
    const job = await adoptOne(store, DIED);
    const runAt = (await store.now()) + LONG_MS;
    await reviveOne(store, job, { ...NOW, runAt });
    assert.equal((await jobOf(store, job)).runAt, runAt);
    await takeNothing(store);
  },

  "a new payload clears checkpoint and steps": async ({ store }) => {
    const job = await adoptOne(store, DIED);
    await reviveOne(store, job, { ...NOW, payload: { json: '{"fixed":true}', hash: null } });
    const leased = await takeOne(store);
    assert.deepEqual(
      [leased.payload, leased.checkpoint, leased.steps],
      ['{"fixed":true}', null, []],
    );
  },

  "a new payload moves the hash of the key": async ({ store }) => {
    const job = await insertOne(store, { dedupe: key("k", "kept", "hash-1") });
    await settle(store, await takeOne(store), die());
    await reviveOne(store, job, { ...NOW, payload: { json: '"fixed"', hash: "hash-2" } });
    const [before, after] = [
      newJob({ dedupe: key("k", "kept", "hash-1") }),
      newJob({ dedupe: key("k", "kept", "hash-2") }),
    ];
    assert.deepEqual(await store.insert([before, after]), [
      { outcome: "conflict", id: job.id, status: "queued" },
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
  },

  "a cancelled job that is revived is not cancelled again": async ({ store }) => {
    const job = await insertOne(store);
    const asked = await takeOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    await settle(store, asked, retry());
    await reviveOne(store, job);
    const leased = await takeOne(store);
    assert.equal((await jobOf(store, job)).cancelAsked, false);
    assert.equal(await renew(store, leased), "kept");
    await settle(store, leased, retry());
    assert.equal((await jobOf(store, job)).status, "queued");
  },

  "jobs that wait, run or succeeded refuse": async ({ store }) => {
    await insertOne(store);
    const running = await takeOne(store);
    const waiting = await insertOne(store);
    const succeeded = await adoptOne(store, { status: "succeeded", finishedAt: 1_000_400 });
    const refs = [waiting, running, succeeded].map(({ id }) => ({ id }));
    const { changes } = await store.revive({ ids: refs }, NOW, WHY);
    assert.deepEqual(
      changes.map((change) => [change.result, change.status]),
      [
        ["refused", "queued"],
        ["refused", "processing"],
        ["refused", "succeeded"],
      ],
    );
    assert.equal(await renew(store, running), "kept");
  },

  "a job nobody knows is missing": async ({ store }) => {
    const id = newId();
    const { changes } = await store.revive({ ids: [{ id }] }, NOW, WHY);
    assert.deepEqual(changes, [{ id, result: "missing", status: null }]);
  },

  "reviving again changes nothing": async ({ store }) => {
    const job = await adoptOne(store, DIED);
    await reviveOne(store, job);
    const before = await jobOf(store, job);
    const { changes } = await store.revive({ ids: [{ id: job.id }] }, NOW, WHY);
    assert.deepEqual(changes, [{ id: job.id, result: "refused", status: "queued" }]);
    assert.deepEqual(await jobOf(store, job), before);
  },

  "a revived job can succeed, and then has no error": async ({ store }) => {
    const job = await adoptOne(store, DIED);
    await reviveOne(store, job);
    await settle(store, await takeOne(store), succeed("1"));
    const { status, error, result, finishedAt } = await jobOf(store, job);
    assert.deepEqual([status, error, result], ["succeeded", null, "1"]);
    assert.ok(finishedAt !== null && finishedAt > 1_000_400);
  },

  "all dead jobs of a filter are revived, in steps": async ({ store, place }) => {
    const dead = Array.from({ length: 23 }, () => adoptedJob(DIED));
    await adoptAll(store, dead);
    await adoptAll(
      store,
      FINISHED.map((status) => adoptedJob({ ...DIED, status, queue: "sms" })),
    );
    await place.advance(TICK_MS);
    const changes = await inSteps((target) => store.revive(target, NOW, WHY), {
      filter: { queue: QUEUE, status: ["dead"] },
      frozenAt: await store.now(),
      limit: 10,
    });
    assert.deepEqual(sortedIdsOf(changes), sortedIdsOf(dead));
    assert.deepEqual(sortedIdsOf(await takeExactly(store, 23)), sortedIdsOf(dead));
  },

  "a frozen filter leaves jobs alone that died later": async ({ store, place }) => {
    const later = await insertOne(store);
    const leased = await takeOne(store);
    const early = await adoptOne(store, DIED);
    await place.advance(TICK_MS);
    const frozenAt = await store.now();
    await place.advance(TICK_MS);
    await settle(store, leased, die());
    const changes = await inSteps((target) => store.revive(target, NOW, WHY), {
      filter: { status: ["dead"] },
      frozenAt,
      limit: 10,
    });
    assert.deepEqual(sortedIdsOf(changes), [early.id]);
    assert.equal((await jobOf(store, later)).status, "dead");
  },
});
