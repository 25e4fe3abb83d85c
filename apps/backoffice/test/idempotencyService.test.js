/** System 1's locks, by the contracts of the back office: `node --test`, after `npm run db:migrate` has built it. */
import "./sources.js";
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

const { Holdfast } = await import("holdfast");
const { memoryStore } = await import("holdfast/memory");
const jobs = await import("../dist/cfo/cfo-jobs.js");

const COMPANY = "0b5a3c1e-2f6d-4c58-9a61-7d1f0c9e4a01";
const PERIOD = { periodStart: "2026-01-01", periodEnd: "2026-01-31" };

describe("idempotency locks", () => {
  /** How often each type ran. */
  const runs = new Map();
  /** What the next run waits for, or throws. */
  let next = async () => {};
  let hf;

  before(async () => {
    hf = new Holdfast({ store: memoryStore(), work: { concurrency: 4 } });
    for (const contract of jobs.CFO_JOBS) {
      hf.handle(contract, async () => {
        runs.set(contract.type, (runs.get(contract.type) ?? 0) + 1);
        await next();
        return { ran: true };
      });
    }
    await hf.work();
  });
  after(() => hf.close());

  const result = async (contract, payload) => {
    const done = await hf.waitFor(await hf.enqueue(contract, payload), { timeoutMs: 10_000 });
    return done.status === "succeeded" ? done.result : done.status;
  };
  const scopes = async () =>
    (await hf.locks.list()).locks.map(({ key, scope }) => `${key} ${scope}`);

  it("have the keys and scopes of the table", async () => {
    await result(jobs.generateMonthlySnapshots, { companyId: COMPANY });
    await result(jobs.generateMonthlySnapshots, { companyId: COMPANY, amendedMonth: "2026-03" });
    await result(jobs.updateReports, { companyId: COMPANY, ...PERIOD });
    await result(jobs.batchRecalc, { companyId: COMPANY, ...PERIOD });
    await result(jobs.generateAIInsights, { companyId: COMPANY });
    const found = (await scopes()).map((one) => one.replace(/\d{4}-\d{2}-\d{2}$/, "<day>"));
    assert.deepEqual(found.sort(), [
      `ai_insights ${COMPANY}:<day>`,
      `batch_recalc ${COMPANY}:2026-01-01_<day>`,
      `monthly_report ${COMPANY}:2026-01-01_<day>`,
      `monthly_snapshot ${COMPANY}:2026-03`,
      `monthly_snapshot ${COMPANY}:full`,
    ]);
  });

  it("skip what is completed, whatever the order of its keys, and run again when data changed", async () => {
    const payload = { companyId: COMPANY, ...PERIOD, dataHash: "one" };
    assert.deepEqual(await result(jobs.batchRecalc, payload), { ran: true });
    const turned = Object.fromEntries(Object.entries(payload).reverse());
    assert.deepEqual(await result(jobs.batchRecalc, turned), { skipped: "already_completed" });
    assert.deepEqual(await result(jobs.batchRecalc, { ...payload, dataHash: "two" }), {
      ran: true,
    });
  });

  it("skip what runs already", async () => {
    const { promise, resolve } = Promise.withResolvers();
    const started = Promise.withResolvers();
    next = () => {
      started.resolve();
      return promise;
    };
    const payload = { companyId: COMPANY, amendedMonth: "2026-07" };
    const first = result(jobs.generateMonthlySnapshots, payload);
    await started.promise;
    const second = await result(jobs.generateMonthlySnapshots, payload);
    assert.deepEqual(second, { skipped: "already_running" });
    resolve();
    assert.deepEqual(await first, { ran: true });
    next = async () => {};
  });

  it("let work that failed run again", async () => {
    const { PermanentError } = await import("holdfast");
    next = async () => {
      throw new PermanentError("not today");
    };
    const payload = { companyId: COMPANY, amendedMonth: "2026-08" };
    assert.equal(await result(jobs.generateMonthlySnapshots, payload), "dead");
    next = async () => {};
    assert.deepEqual(await result(jobs.generateMonthlySnapshots, payload), { ran: true });
  });

  it("are not asked for notifications and pings", async () => {
    const before = runs.get("healthPing") ?? 0;
    await result(jobs.healthPing, {});
    await result(jobs.healthPing, {});
    assert.equal(runs.get("healthPing"), before + 2);
    assert.equal(
      (await scopes()).some((one) => /ping|notif/i.test(one)),
      false,
    );
  });
});
