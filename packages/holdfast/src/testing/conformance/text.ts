/** Law 8: what a user wrote comes back byte for byte, wherever it was written. */
import assert from "node:assert/strict";
import { BATCH_ITEMS } from "../../core/job.ts";
import { assertCounts, entriesOf, findAll, jobOf, linesOf } from "./looking.ts";
import { adoptOne, insertAll, insertOne, key, newJob, newJobs, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import {
  cancelled,
  die,
  ledgerEntry,
  leaseRef,
  renew,
  settle,
  settlement,
  succeed,
} from "./settling.ts";
import { leaseRequest, takeExactly, takeOne } from "./take.ts";
import { LONG_MS } from "./times.ts";

/** Scripts, marks that combine, signs outside the first plane, separators, quotes, escapes. */
const ODD =
  "grüße Ω≈ç 日本語 עברית  e\u0301 vs \u00e9 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 \u2028\u2029\u200b\ufeff \"'`\\ %_*?[]{}$1:: \t\r\n \u007f \uffff.";

const ODD_JSON = JSON.stringify({ [ODD]: ODD });

/** JSON that a store would change if it ever parsed it and wrote it again. */
const UNTIDY = [
  ' {"b" :1 , "a":2}  ',
  '{"a":1,"a":2}',
  '{"10":1,"9":2,"__proto__":{"x":1}}',
  "[1.0, 1e2, -0, 12345678901234567890, 0.1000000000000000055511151231257827, 1E400]",
  '"\\u0000 \\u00e9 \\ud83d \\/ \\ud83d\\ude00"',
  '"<script>&amp;\u2028"',
  '""',
  "null",
  "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]",
];

/** JSON text of exactly so many bytes: white space around a value is part of the text. */
function padded(json: string, bytes: number): string {
  return json + " ".repeat(bytes - Buffer.byteLength(json));
}

export const text = chapter("text", {
  "payloads keep every sign, through every way to read them": async ({ store }) => {
    const job = await insertOne(store, { payload: ODD_JSON });
    assert.equal((await findAll(store, {}))[0]?.payload, ODD_JSON);
    assert.equal((await takeOne(store)).payload, ODD_JSON);
    assert.equal((await jobOf(store, job)).payload, ODD_JSON);
  },

  "JSON text is never tidied up": async ({ store }) => {
    await insertAll(
      store,
      UNTIDY.map((payload) => newJob({ payload })),
    );
    const leased = await takeExactly(store, UNTIDY.length);
    assert.deepEqual(
      leased.map((job) => job.payload),
      UNTIDY,
    );
    for (const [index, job] of leased.entries()) {
      const json = UNTIDY[index] ?? "";
      const updates = { checkpoint: json, steps: [{ name: "step", value: json }] };
      await settle(store, job, succeed(json), { updates });
      const stored = await jobOf(store, job);
      assert.deepEqual(
        [stored.payload, stored.result, stored.checkpoint, stored.steps[0]?.value],
        [json, json, json, json],
      );
    }
  },

  "group, tags, meta, trace and key keep every sign": async ({ store }) => {
    const job = await insertOne(store, {
      group: ODD,
      tags: [ODD, "", " "],
      meta: ODD_JSON,
      trace: ODD,
      dedupe: key(ODD, { ttlMs: LONG_MS }, ODD),
    });
    const { group, tags, meta, trace, dedupeKey } = await jobOf(store, job);
    assert.deepEqual(
      [group, tags, meta, trace, dedupeKey],
      [ODD, [ODD, "", " "], ODD_JSON, ODD, ODD],
    );
    assert.equal((await takeOne(store)).group, ODD);
    assert.equal((await linesOf(store))[0]?.group, ODD);
    assert.equal((await findAll(store, { queue: QUEUE, group: ODD, tag: ODD })).length, 1);
  },

  "failures, reasons, logs and progress keep every sign": async ({ store }) => {
    const failure = { category: "unknown", message: ODD, stack: ODD, fingerprint: ODD } as const;
    const job = await insertOne(store);
    const leased = await takeOne(store, { worker: ODD });
    await renew(store, leased, { logs: [ODD, ""], progress: { percent: 1, message: ODD } });
    await settle(store, leased, die(ODD, failure));
    const { error, reason, worker, logs, progress, history } = await jobOf(store, job);
    assert.deepEqual([error, reason, worker], [failure, ODD, ODD]);
    assert.deepEqual([logs.map((line) => line.text), progress?.message], [[ODD, ""], ODD]);
    assert.deepEqual([history[0]?.message, history[0]?.stack, history[0]?.worker], [ODD, ODD, ODD]);
  },

  "what an operator says keeps every sign": async ({ store }) => {
    const job = await insertOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, { reason: ODD, by: ODD });
    const { reason, by } = await jobOf(store, job);
    assert.deepEqual([reason, by], [ODD, ODD]);
    await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, cancelled(ODD));
    assert.equal((await jobOf(store, leased)).reason, ODD);
  },

  "ledger, records and holds keep every sign": async ({ store }) => {
    const entry = ledgerEntry({
      kind: ODD,
      jobId: ODD,
      group: ODD,
      state: ODD,
      body: ODD_JSON,
      at: 7,
    });
    await store.ledger.append([entry]);
    assert.deepEqual(await entriesOf(store, { kind: ODD, state: ODD }), [
      { ...entry, amendedAt: null },
    ]);
    await store.records.swap([{ key: ODD, expect: null, value: ODD_JSON, ttlMs: null }]);
    assert.equal((await store.records.read([ODD]))[0]?.value, ODD_JSON);
    const hold = { forMs: null, reason: ODD, by: ODD };
    await store.hold([{ queue: QUEUE, group: ODD, owner: ODD, hold }]);
    const [stored] = (await linesOf(store))[0]?.holds ?? [];
    assert.deepEqual([stored?.owner, stored?.reason, stored?.by], [ODD, ODD, ODD]);
  },

  "keys, groups and records that look alike are not the same": async ({ store }) => {
    const alike = ["a", "A", "a ", " a", "á", "a\u0301", "а", "a\u200b", "ａ", ""];
    for (const name of alike) {
      await insertOne(store, { group: name, dedupe: key(`k${name}`) });
      const [result] = await store.records.swap([
        { key: `r${name}`, expect: null, value: "1", ttlMs: null },
      ]);
      assert.equal(result?.swapped, true);
    }
    assert.deepEqual(new Set((await linesOf(store)).map((line) => line.group)), new Set(alike));
  },

  "a payload of one mebibyte and a result of a quarter come back whole": async ({ store }) => {
    const unit = "é👩‍👧x";
    const payload = padded(JSON.stringify(unit.repeat(60_000)), 1024 * 1024);
    const result = padded(JSON.stringify(unit.repeat(15_000)), 256 * 1024);
    const job = await insertOne(store, { payload });
    const leased = await takeOne(store);
    assert.ok(leased.payload === payload, "the leased payload is the one that went in");
    await settle(store, leased, succeed(result));
    const stored = await jobOf(store, job);
    assert.ok(stored.payload === payload, "the stored payload is the one that went in");
    assert.ok(stored.result === result, "the stored result is the one that went in");
  },

  "a full batch of four mebibytes goes in and out": async ({ store }) => {
    const payload = JSON.stringify("y".repeat(20_000));
    await insertAll(store, newJobs(200, { payload }));
    const leased = await takeExactly(store, 200);
    assert.ok(leased.every((job) => job.payload === payload));
  },

  "a call carries as many items as the store says it takes": async ({ store }) => {
    const count = store.batchItems ?? BATCH_ITEMS;
    assert.ok(count >= BATCH_ITEMS);
    const added = await store.insert(newJobs(count));
    assert.equal(added.filter(({ outcome }) => outcome === "added").length, count);
    const { jobs } = await store.lease(leaseRequest(count));
    assert.equal(jobs.length, count);
    const renewed = await store.renew(jobs.map(leaseRef), LONG_MS);
    assert.equal(renewed.filter((result) => result !== "lost").length, count);
    const settled = await store.settle(jobs.map((job) => settlement(job, succeed())));
    assert.equal(settled.filter((result) => result === "settled").length, count);
    await assertCounts(store, { succeeded: count });
  },

  "text of an adopted job keeps every sign": async ({ store }) => {
    const job = await adoptOne(store, {
      payload: ODD_JSON,
      result: ODD_JSON,
      reason: ODD,
      checkpoint: ODD_JSON,
      steps: [{ name: ODD, value: ODD_JSON }],
      logs: [{ at: 1_000_100, text: ODD }],
    });
    const { payload, result, reason, checkpoint, steps, logs } = await jobOf(store, job);
    assert.deepEqual(
      { payload, result, reason, checkpoint, steps, logs },
      {
        payload: job.payload,
        result: job.result,
        reason: job.reason,
        checkpoint: job.checkpoint,
        steps: job.steps,
        logs: job.logs,
      },
    );
  },
});
