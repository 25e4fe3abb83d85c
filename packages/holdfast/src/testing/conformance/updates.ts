/** What rides along with renew and settle: progress, log lines, a checkpoint, finished steps. */
import assert from "node:assert/strict";
import { LOG_LENGTH } from "../../core/job.ts";
import { jobOf } from "./looking.ts";
import { insertOne } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { leaseRef, renew, retry, settle, snooze, succeed } from "./settling.ts";
import { takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

export const updates = chapter("updates", {
  "everything that rides on a renewal is stored": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await renew(store, leased, {
      progress: { percent: 12.5, message: "started" },
      logs: ["one", "two"],
      checkpoint: '{"row":100}',
      steps: [{ name: "charge", value: '"ch_1"' }],
    });
    const { progress, logs, checkpoint, steps } = await jobOf(store, job);
    assert.deepEqual(progress, { percent: 12.5, message: "started" });
    assert.deepEqual(
      logs.map((line) => line.text),
      ["one", "two"],
    );
    assert.equal(checkpoint, '{"row":100}');
    assert.deepEqual(steps, [{ name: "charge", value: '"ch_1"' }]);
  },

  "everything that rides on a settle is stored with it": async ({ store }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), retry(LONG_MS), {
      updates: {
        progress: { percent: 50, message: null },
        logs: ["last words"],
        checkpoint: "7",
        steps: [{ name: "a", value: "1" }],
      },
    });
    const { progress, logs, checkpoint, steps } = await jobOf(store, job);
    assert.deepEqual(progress, { percent: 50, message: null });
    assert.deepEqual(
      logs.map((line) => line.text),
      ["last words"],
    );
    assert.deepEqual([checkpoint, steps], ["7", [{ name: "a", value: "1" }]]);
  },

  "a log line carries the store's time": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const before = await store.now();
    await renew(store, leased, { logs: ["now"] });
    const after = await store.now();
    const [line] = (await jobOf(store, job)).logs;
    assert.ok(line && before <= line.at && line.at <= after);
  },

  "of progress and checkpoint the last one stays": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await renew(store, leased, { progress: { percent: 10, message: "a" }, checkpoint: "1" });
    await renew(store, leased, { progress: { percent: 5, message: null }, checkpoint: "2" });
    const { progress, checkpoint } = await jobOf(store, job);
    assert.deepEqual([progress, checkpoint], [{ percent: 5, message: null }, "2"]);
  },

  "a repeated renewal writes its updates once": async ({ store }) => {
    const job = await insertOne(store);
    const renewal = { ...leaseRef(await takeOne(store)), updates: { logs: ["once"] }, order: 1 };
    assert.deepEqual(await store.renew([renewal], LONG_MS), ["kept"]);
    assert.deepEqual(await store.renew([renewal], LONG_MS), ["kept"]);
    assert.deepEqual(
      (await jobOf(store, job)).logs.map((line) => line.text),
      ["once"],
    );
  },

  "a renewal that arrives after a later one extends the lease and writes nothing": async ({
    store,
  }) => {
    const job = await insertOne(store);
    const ref = leaseRef(await takeOne(store, { leaseMs: SHORT_MS }));
    await store.renew([{ ...ref, updates: { checkpoint: "2" }, order: 2 }], SHORT_MS);
    const before = (await jobOf(store, job)).leaseUntil ?? 0;
    const late = { ...ref, updates: { checkpoint: "1", steps: [{ name: "a", value: "1" }] } };
    assert.deepEqual(await store.renew([{ ...late, order: 1 }], LONG_MS), ["kept"]);
    const { checkpoint, steps, leaseUntil } = await jobOf(store, job);
    assert.deepEqual([checkpoint, steps], ["2", []]);
    assert.ok((leaseUntil ?? 0) > before);
  },

  "of two renewals of one job in one call the later one counts": async ({ store }) => {
    const job = await insertOne(store);
    const ref = leaseRef(await takeOne(store));
    const renewals = [2, 1, 3].map((order) => ({
      ...ref,
      updates: { checkpoint: String(order), logs: [`line ${order}`] },
      order,
    }));
    assert.deepEqual(await store.renew(renewals, LONG_MS), ["kept", "kept", "kept"]);
    const { checkpoint, logs } = await jobOf(store, job);
    assert.equal(checkpoint, "3");
    assert.deepEqual(
      logs.map((line) => line.text),
      ["line 2", "line 3"],
    );
  },

  "the next attempt counts its renewals anew": async ({ store }) => {
    const job = await insertOne(store);
    const first = leaseRef(await takeOne(store));
    await store.renew([{ ...first, updates: { checkpoint: "1" }, order: 9 }], LONG_MS);
    await settle(store, first, retry(0));
    const second = leaseRef(await takeOne(store));
    await store.renew([{ ...second, updates: { checkpoint: "2" }, order: 1 }], LONG_MS);
    assert.equal((await jobOf(store, job)).checkpoint, "2");
  },

  "a renewal without updates leaves them all as they are": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await renew(store, leased, {
      progress: { percent: 10, message: "a" },
      logs: ["a"],
      checkpoint: "1",
      steps: [{ name: "a", value: "1" }],
    });
    const before = await jobOf(store, job);
    await renew(store, leased);
    await renew(store, leased, {});
    const after = await jobOf(store, job);
    assert.deepEqual(
      [after.progress, after.logs, after.checkpoint, after.steps],
      [before.progress, before.logs, before.checkpoint, before.steps],
    );
  },

  "steps are kept in the order they finished": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await renew(store, leased, { steps: [{ name: "b", value: "1" }] });
    await renew(store, leased, {
      steps: [
        { name: "a", value: "2" },
        { name: "c", value: "3" },
      ],
    });
    assert.deepEqual(
      (await jobOf(store, job)).steps.map((step) => step.name),
      ["b", "a", "c"],
    );
  },

  "a stored step is never overwritten": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await renew(store, leased, { steps: [{ name: "charge", value: '"first"' }] });
    await renew(store, leased, {
      steps: [
        { name: "charge", value: '"second"' },
        { name: "mail", value: "null" },
      ],
    });
    assert.deepEqual((await jobOf(store, job)).steps, [
      { name: "charge", value: '"first"' },
      { name: "mail", value: "null" },
    ]);
  },

  "the next attempt gets checkpoint and steps": async ({ store }) => {
    await insertOne(store);
    const first = await takeOne(store);
    await renew(store, first, { checkpoint: "1", steps: [{ name: "a", value: "1" }] });
    await settle(store, first, retry());
    const second = await takeOne(store);
    assert.deepEqual([second.checkpoint, second.steps], ["1", [{ name: "a", value: "1" }]]);
    await settle(store, second, snooze(), { updates: { steps: [{ name: "b", value: "2" }] } });
    const third = await takeOne(store);
    assert.deepEqual(
      third.steps.map((step) => step.name),
      ["a", "b"],
    );
  },

  "checkpoint, steps and logs survive a crash": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    const saved = { checkpoint: "1", steps: [{ name: "a", value: "1" }], logs: ["here"] };
    await renew(store, leased, saved, SHORT_MS);
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const again = await takeOne(store);
    assert.deepEqual([again.checkpoint, again.steps], [saved.checkpoint, saved.steps]);
    assert.equal((await jobOf(store, job)).logs[0]?.text, "here");
  },

  "of many log lines the last two hundred are kept": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const lines = Array.from({ length: 450 }, (_, index) => `line ${index}`);
    await renew(store, leased, { logs: lines.slice(0, 150) });
    await renew(store, leased, { logs: lines.slice(150, 300) });
    await settle(store, leased, succeed(), { updates: { logs: lines.slice(300) } });
    assert.deepEqual(
      (await jobOf(store, job)).logs.map((line) => line.text),
      lines.slice(-LOG_LENGTH),
    );
  },

  "more log lines than are kept may come in one call": async ({ store }) => {
    const job = await insertOne(store);
    const lines = Array.from({ length: 250 }, (_, index) => `line ${index}`);
    await renew(store, await takeOne(store), { logs: lines });
    assert.deepEqual(
      (await jobOf(store, job)).logs.map((line) => line.text),
      lines.slice(-LOG_LENGTH),
    );
  },

  "a repeated settle writes its log lines once": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const extras = { updates: { logs: ["once"] } };
    await settle(store, leased, succeed(), extras);
    await settle(store, leased, succeed(), extras);
    assert.equal((await jobOf(store, job)).logs.length, 1);
  },
});
