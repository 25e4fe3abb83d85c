/** System 1 over HTTP, on whatever stores: six types, books that balance, admin endpoints. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { monthTotals, reportLines } from "../../apps/backoffice/src/cfo/books.ts";
import { HARBOUR, NORTHWIND, Office, type Env } from "./office.ts";

const PERIOD = { periodStart: "2026-02-01", periodEnd: "2026-04-30" };
const UNKNOWN = "0b5a3c1e-2f6d-4c58-9a61-7d1f0c9e4aff";

export function systemOne(env: () => Promise<Env>): void {
  let office: Office;
  beforeAll(async () => {
    office = await Office.open(await env());
  });
  afterAll(() => office?.close());
  const company = (path: string, id = NORTHWIND) => `/api/companies/${id}/${path}`;
  const books = (id = NORTHWIND) => office.data.find("transactions", { companyId: id });
  const result = async (path: string, body?: unknown) => {
    const answer = await office.post("staff", path, body);
    expect(answer).toMatchObject({ status: 202 });
    const done = await office.done(answer);
    expect(done).toMatchObject({ status: "succeeded" });
    return done.status === "succeeded" ? done.result : null;
  };

  it("says which jobs there are, how critical, and what locks them", async () => {
    const { body } = await office.get("viewer", "/api/job-types");
    const rows = (body as Record<string, unknown>[]).map((one) => [
      ...[one["name"], one["criticality"], one["lockKey"], one["queue"], one["maxAttempts"]],
    ]);
    const queue = "ai-cfo-jobs";
    expect(rows).toEqual([
      ["generateMonthlySnapshots", "critical", "monthly_snapshot", queue, 5],
      ["updateReports", "critical", "monthly_report", queue, 5],
      ["batchRecalc", "critical", "batch_recalc", queue, 5],
      ["generateAIInsights", "medium", "ai_insights", queue, 5],
      ["sendNotifications", "low", null, queue, 5],
      ["healthPing", "diagnostic", null, queue, 5],
    ]);
  });

  it("makes snapshots that equal a recomputation, and skips what is done", async () => {
    expect(await result(company("snapshots"))).toEqual({ months: 10 });
    expect(await result(company("snapshots"))).toEqual({ skipped: "already_completed" });
    const { body } = await office.get("viewer", company("snapshots"));
    const shown = (body as Record<string, unknown>[]).map(
      ({ computedAt: _, companyId: __, ...totals }) => totals,
    );
    expect(shown).toEqual(monthTotals(await books()));
  });

  it("makes one amended month again when its data have changed, and only that", async () => {
    const before = await office.data.find("snapshots", { companyId: NORTHWIND });
    const body = { transactionId: "X-1", date: "2026-05-31", amount: 0.1, category: "sales" };
    expect((await office.post("staff", company("transactions"), body)).status).toBe(201);
    expect(await result(company("snapshots"), { amendedMonth: "2026-05" })).toEqual({ months: 1 });
    const after = await office.data.find("snapshots", { companyId: NORTHWIND });
    const changed = after.filter((one, at) => one.computedAt !== before[at]?.computedAt);
    expect(changed.map(({ month }) => month)).toEqual(["2026-05"]);
    const [may] = monthTotals((await books()).filter(({ date }) => date.startsWith("2026-05")));
    expect(changed[0]).toMatchObject({ ...may });
    const locks = await office.get("admin", "/api/v1/locks");
    expect(JSON.stringify(locks.body)).toContain(`${NORTHWIND}:2026-05`);
    expect(JSON.stringify(locks.body)).toContain(`${NORTHWIND}:full`);
  });

  it("keeps a report that can be downloaded as CSV, and recalculates it", async () => {
    const made = (await result(company("reports"), PERIOD)) as { reportId: string };
    const inPeriod = async () =>
      (await books()).filter(({ date }) => date >= "2026-02-01" && date <= "2026-04-30");
    const reports = await office.get("viewer", company("reports"));
    expect(reports.body).toMatchObject([{ id: made.reportId, ...PERIOD }]);
    expect(reports.body[0].lines).toEqual(reportLines(await inPeriod()));

    const late = { transactionId: "X-2", date: "2026-04-30", amount: -12.34, category: '=1+1,"x"' };
    expect((await office.post("staff", company("transactions"), late)).status).toBe(201);
    expect(await result(company("recalc"), PERIOD)).toEqual({ months: 3, reports: 1 });
    const csv = await office.get("viewer", company(`reports/${made.reportId}.csv`));
    expect(csv.headers.get("content-disposition")).toContain("report-2026-02-01-2026-04-30.csv");
    const lines = String(csv.body).trimEnd().split("\r\n");
    expect(lines[0]).toBe("category,transactions,total,currency");
    expect(lines).toContain(`"'=1+1,""x""",1,-12.34,EUR`);
    const total = reportLines(await inPeriod()).at(-1);
    expect(lines.at(-1)).toBe(
      `total,${total?.transactions},${((total?.totalCents ?? 0) / 100).toFixed(2)},EUR`,
    );
    const april = await office.data.find("snapshots", { companyId: NORTHWIND, month: "2026-04" });
    const again = monthTotals((await books()).filter(({ date }) => date.startsWith("2026-04")));
    expect(april).toMatchObject(again);
  });

  it("recalculates whole months, also when a booking of the month is outside of the period", async () => {
    const period = { periodStart: "2026-06-10", periodEnd: "2026-06-20" };
    expect(await result(company("recalc"), period)).toMatchObject({ months: 1 });
    const body = { transactionId: "X-9", date: "2026-06-25", amount: 4.5, category: "sales" };
    expect((await office.post("staff", company("transactions"), body)).status).toBe(201);
    expect(await result(company("recalc"), period)).toMatchObject({ months: 1 });
    const [june] = await office.data.find("snapshots", { companyId: NORTHWIND, month: "2026-06" });
    const [wanted] = monthTotals((await books()).filter(({ date }) => date.startsWith("2026-06")));
    expect(june).toMatchObject({ ...wanted });
  });

  it("finds insights by its rules, notifies staff into the outbox, and pings", async () => {
    const found = await result(company("insights"));
    expect(found).toMatchObject({ provider: "rules" });
    const { body } = await office.get("viewer", company("insights"));
    expect(body.map(({ rule }: { rule: string }) => rule)).toContain("best-month");
    expect(body).toHaveLength((found as { insights: number }).insights);

    const note = { companyId: HARBOUR, subject: "Hello", body: "A note" };
    expect(await result("/api/notifications", note)).toEqual({ recipients: 2, sent: 0 });
    const outbox = await office.get("staff", "/api/outbox");
    expect(outbox.body.map(({ recipient }: { recipient: string }) => recipient).sort()).toEqual([
      "admin@backoffice.example",
      "staff@backoffice.example",
    ]);
    expect(await result("/api/ping")).toMatchObject({ pong: true });
  });

  it("shows a failure to admins as it is printed, and retries it once its cause is mended", async () => {
    const job = { type: "generateMonthlySnapshots", payload: { companyId: UNKNOWN, apiKey: "s3" } };
    const sent = await office.post("staff", "/api/v1/jobs", job);
    expect(sent.status).toBe(201);
    const dead = await office.hf.waitFor(sent.body.data.id as string, { timeoutMs: 25_000 });
    expect(dead.status).toBe("dead");
    const path = `/api/admin/queue/failures?limit=10&jobName=generateMonthlySnapshots&companyId=${UNKNOWN}`;
    const failures = () => office.get("admin", path);
    await expect
      .poll(async () => (await failures()).body.data.length as number, { timeout: 20_000 })
      .toBe(1);
    const [failure] = (await failures()).body.data as Record<string, unknown>[];
    expect(failure).toMatchObject({
      ...{ jobName: "generateMonthlySnapshots", queueName: "ai-cfo-jobs", companyId: UNKNOWN },
      ...{ attempts: 1, maxAttempts: 5, isFinalAttempt: true, resolvedAt: null },
      payload: { companyId: UNKNOWN, apiKey: "[REDACTED]" },
    });
    const health = await office.get("admin", "/api/admin/queue/health");
    expect(health.body).toMatchObject({
      success: true,
      data: {
        ...{ queueName: "ai-cfo-jobs", resilientMode: false, failedLastHour: 1 },
        counts: { waiting: 0, active: 0, delayed: 0, failed: 1 },
        topFailedJobs: [{ jobName: "generateMonthlySnapshots", count: 1 }],
        dlq: { failedLastHour: 1, failedLast24h: 1, retentionDays: 14 },
      },
    });
    await office.data.add("companies", [{ id: UNKNOWN, name: "Late", currency: "EUR" }]);
    const failureId = failure?.["id"];
    const retried = await office.post("admin", "/api/admin/queue/retry", { failureId });
    expect(retried).toMatchObject({ status: 200, body: { data: { retried: true } } });
    const done = await office.hf.waitFor(sent.body.data.id as string, { timeoutMs: 25_000 });
    expect(done).toMatchObject({ status: "succeeded" });
    const pruned = await office.post("admin", "/api/admin/queue/prune");
    expect(pruned).toMatchObject({ status: 200, body: { success: true, data: { pruned: 0 } } });
  });

  it("keeps data and job together in one transaction where they share a database", async (test) => {
    const { transactions } = await office.hf.info();
    test.skip(!transactions || !office.data.hasTransactions, "jobs and data are apart here");
    const row = { email: "new@people.example", name: "New", companyId: NORTHWIND };
    const inOne = (fails: boolean) =>
      office.data.transaction(async (tx) => {
        await tx.add("customers", [row]);
        const { id } = await office.hf.within(tx.handle).enqueue("healthPing", {});
        if (fails) throw new Error(`taken back ${id}`);
        return id;
      });
    const failed = await inOne(true).catch((error: Error) => error.message);
    const [, gone = ""] = /taken back (\S+)/.exec(String(failed)) ?? [];
    expect(gone).not.toBe("");
    expect(await office.hf.job(gone)).toBeNull();
    expect(await office.data.count("customers", { email: row.email })).toBe(0);
    const kept = await inOne(false);
    expect(await office.hf.waitFor(kept, { timeoutMs: 25_000 })).toMatchObject({
      status: "succeeded",
    });
    expect(await office.data.count("customers", { email: row.email })).toBe(1);
  });
}
