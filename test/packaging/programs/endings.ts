/** The ways a handler can end an attempt. */
import assert from "node:assert/strict";
import { Holdfast, PermanentError, RetryAfterError } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";

const hf = new Holdfast({ store: sqliteStore({ file: "jobs.db" }) });
const retry = { maxAttempts: 3, baseMs: 1, jitter: 0 };
const runs = new Map<string, number>();
const run = (type: string) => {
  const times = (runs.get(type) ?? 0) + 1;
  runs.set(type, times);
  return times;
};

hf.define({ type: "returns", run: async () => ({ fine: true }) });
hf.define({
  type: "throws",
  retry,
  async run(job) {
    run(job.type);
    throw new Error("always");
  },
});
hf.define({
  type: "recovers",
  retry,
  async run(job) {
    if (run(job.type) === 1) throw new Error("once");
  },
});
hf.define({
  type: "gives-up",
  retry,
  async run(job) {
    run(job.type);
    throw new PermanentError("never will");
  },
});
hf.define({
  type: "asks-for-time",
  retry: { ...retry, maxAttempts: 1 },
  async run(job) {
    if (run(job.type) === 1) throw new RetryAfterError(5);
  },
});
hf.define({
  type: "snoozes",
  retry: { ...retry, maxAttempts: 1 },
  async run(job) {
    if (run(job.type) === 1) return job.snooze(5);
    return "awake";
  },
});
hf.define({
  type: "cancels",
  async run(job) {
    return job.cancel("no longer needed");
  },
});
hf.define({
  type: "classifies",
  retry,
  classify: (error) => (error instanceof RangeError ? "validation" : undefined),
  async run(job) {
    run(job.type);
    throw new RangeError("out of range");
  },
});

const types = [
  "returns",
  "throws",
  "recovers",
  "gives-up",
  "asks-for-time",
  "snoozes",
  "cancels",
  "classifies",
];
const ends = new Map<string, Awaited<ReturnType<typeof hf.job>>>();
{
  await using worker = await hf.work({ queues: ["default"] });
  assert.ok(worker);
  for (const type of types) {
    const receipt = await hf.enqueue(type, {});
    await hf.waitFor(receipt, { timeoutMs: 20_000 });
    ends.set(type, await hf.job(receipt.id));
  }
}
await hf.close();

const end = (type: string) => {
  const job = ends.get(type);
  assert.ok(job);
  return [job.status, job.attempts, job.error?.category ?? null, runs.get(type) ?? 1];
};
assert.deepEqual(end("returns"), ["succeeded", 1, null, 1]);
assert.deepEqual(end("throws"), ["dead", 3, "unknown", 3]);
assert.deepEqual(end("recovers"), ["succeeded", 2, null, 2]);
assert.deepEqual(end("gives-up"), ["dead", 1, "unknown", 1]);
assert.deepEqual(end("asks-for-time"), ["succeeded", 1, null, 2]);
assert.deepEqual(end("snoozes"), ["succeeded", 1, null, 2]);
assert.deepEqual(end("cancels"), ["cancelled", 1, null, 1]);
assert.deepEqual(end("classifies"), ["dead", 1, "validation", 1]);
assert.equal(ends.get("cancels")?.reason, "no longer needed");
console.log("ok");
