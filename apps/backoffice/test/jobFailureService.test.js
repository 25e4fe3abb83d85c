/** System 1's dead letters: what is recorded of each failed attempt, what is hidden, what a retry does. */
import "./sources.js";
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

const { testHoldfast } = await import("holdfast/testing");
const jobs = await import("../dist/cfo/cfo-jobs.js");

const COMPANY = "0b5a3c1e-2f6d-4c58-9a61-7d1f0c9e4a01";

describe("job failures", () => {
  let t;
  let fails = true;
  before(() => {
    t = testHoldfast();
    t.hf.handle(jobs.sendNotifications, async () => {
      if (fails) throw new Error(`no mail today ${"x".repeat(3_000)}`);
      return { sent: 1 };
    });
  });
  after(() => t.hf.close());

  it("are recorded for every attempt, the fifth as the final one, with 1, 2, 4, 8 seconds between", async () => {
    const payload = { companyId: COMPANY, subject: "s", body: "b", apiToken: "secret" };
    const { id } = await t.hf.enqueue(jobs.sendNotifications, payload);
    await t.drain();
    for (const seconds of [1, 2, 4, 8]) {
      const { runAt } = await t.hf.job(id);
      const waitMs = runAt.getTime() - t.now();
      // Spread by a fifth to both sides.
      assert.ok(waitMs >= seconds * 800 && waitMs <= seconds * 1_200, `${waitMs} ms`);
      await t.advance(waitMs);
      await t.drain();
    }
    const { failures } = await t.hf.failures.list({ type: "sendNotifications" });
    const told = failures.map(({ attempt, maxAttempts, final }) => [attempt, maxAttempts, final]);
    assert.deepEqual(told.sort(), [
      ...[1, 2, 3, 4].map((attempt) => [attempt, 5, false]),
      [5, 5, true],
    ]);
    assert.equal((await t.hf.job(id))?.status, "dead");
    assert.ok(failures.every(({ company }) => company === COMPANY));
    assert.ok(failures.every(({ message }) => message.length <= 2_000));
    assert.equal(JSON.stringify(failures).includes('"secret"'), false);
  });

  it("are resolved when their job is retried", async () => {
    const { failures } = await t.hf.failures.list({ final: true });
    assert.equal(failures.length, 1);
    fails = false;
    assert.equal(await t.hf.retry(failures[0].jobId), "retried");
    await t.drain();
    assert.equal((await t.hf.job(failures[0].jobId))?.status, "succeeded");
    assert.notEqual((await t.hf.failures.get(failures[0].id))?.resolvedAt ?? null, null);
  });

  it("are pruned after fourteen days, not before", async () => {
    assert.equal(await t.hf.failures.prune(), 0);
    await t.advance(15 * 86_400_000);
    await t.hf.failures.prune();
    const { failures } = await t.hf.failures.list({});
    assert.deepEqual(failures, []);
  });
});
