/** System 4, "Queue Monitoring", "Queue Table" as a view, "Startup Behavior": what people see, and when it works. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { hubspotSync, hubspotViews } from "@holdfast/crm";
import { hubspotDouble } from "@holdfast/crm/double";
import { Holdfast, type Store } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { postgresStore } from "holdfast/postgres";
import { sqliteStore } from "holdfast/sqlite";
import { onlyInFull } from "../runner/tier.ts";
import { postgresSchema } from "../servers/postgres-place.ts";
import { checkCycles } from "../../packages/crm/src/sync/cycle-options.ts";
import { runCycle } from "../../packages/crm/src/sync/run-cycle.ts";
import { crmWorld, PAYLOADS } from "./crm-world.ts";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe("a sync is seen", () => {
  it("by its stats: pending, processing, failed, dead, and what completed in 24 hours", async () => {
    const world = await crmWorld({ limits: { breaker: null } });
    await world.crm.ensure();
    await world.crm.enqueue("create_contact", PAYLOADS.create_contact);
    await world.drain();
    world.double.faults.add({ kind: "status", status: 500 }, { kind: "unauthorized" });
    await world.crm.enqueue("create_contact", { email: "b@example.com" });
    await world.drain();
    await world.crm.enqueue("create_contact", { email: "c@example.com" });
    await world.drain();
    await world.crm.enqueue("create_contact", { email: "d@example.com" }, { delayMs: 60_000 });
    expect(await world.crm.stats()).toEqual({
      ...{ pending: 1, processing: 0, failed: 1, dead: 1, completed: 1 },
    });
    await world.close();
  });

  it("by its monitor: counts, recent failures, average time and lag", async () => {
    const world = await crmWorld({ limits: { breaker: null } });
    await world.crm.ensure();
    world.double.faults.add({ kind: "status", status: 500 });
    const { id } = await world.crm.enqueue("create_contact", PAYLOADS.create_contact);
    await world.drain();
    await world.crm.enqueue("create_contact", { email: "b@example.com" });
    await world.drain();
    await world.crm.enqueue("create_contact", { email: "c@example.com" });
    await world.t.advance(30_000);
    const seen = await world.crm.monitor();
    expect(seen.counts).toEqual({ pending: 1, processing: 0, failed: 1, completed: 1 });
    expect(seen.recentFailures).toMatchObject([
      { id, operation: "create_contact", retryCount: 1, maxRetries: 5 },
    ]);
    expect(seen.recentFailures[0]?.error).toContain("500");
    expect(seen.recentFailures[0]?.nextRetryAt.getTime()).toBe(world.t.now() + 90_000);
    expect(seen.averageProcessingMs).not.toBeNull();
    expect(seen.queueLagMs).toBe(30_000);
    await world.close();
  });

  it.for(["sqlite", "postgres"] as const)(
    "as the table hubspot_sync_queue with system 4's columns on %s",
    async (name, test) => {
      if (name === "postgres") onlyInFull(test);
      const folder = await mkdtemp(join(tmpdir(), "holdfast-crm-"));
      const file = join(folder, "jobs.db");
      const place = name === "postgres" ? await postgresSchema() : null;
      const views = hubspotViews();
      const store: Store = place
        ? postgresStore({ ...place.way, schema: place.schema, views })
        : sqliteStore({ file, views });
      const read = async (): Promise<Record<string, unknown>[]> => {
        if (!place) {
          return new DatabaseSync(file).prepare("SELECT * FROM hubspot_sync_queue").all();
        }
        const from = `"${place.schema}".hubspot_sync_queue`;
        const { rows } = await place.pool.query<Record<string, unknown>>(`SELECT * FROM ${from}`);
        return rows;
      };
      const double = await hubspotDouble();
      const hf = new Holdfast({ store, logger });
      const sync = hubspotSync({ token: double.token, baseUrl: double.url });
      const crm = sync.attach(hf);
      await crm.ensure();
      double.faults.add({ kind: "status", status: 500 }, { kind: "unauthorized" });
      const ended = new Map<string, string>();
      const all = Promise.withResolvers<void>();
      const note = ({ id }: { id: string }) => {
        ended.set(id, "");
        if (ended.size === 3) all.resolve();
      };
      hf.on("succeeded", note);
      hf.on("failed", note);
      const worker = await crm.work({ concurrency: 1 });
      const failed = await crm.enqueue("create_contact", { email: "a@example.com" });
      const dead = await crm.enqueue("sync_tier", { email: "b@example.com", newTier: "Core" });
      const done = await crm.enqueue("sync_payment", PAYLOADS.sync_payment, { priority: 7 });
      await all.promise;
      await worker.stop();
      const waiting = await crm.enqueue("update_contact", PAYLOADS.update_contact);
      const rows = new Map((await read()).map((row) => [row["id"], row]));
      const common = { max_retries: 5, priority: 5 };
      expect(rows.get(failed.id)).toMatchObject({
        ...{ ...common, operation: "create_contact", status: "failed", retry_count: 1 },
        ...{ idempotency_key: "member_creation_a@example.com", completed_at: null },
      });
      expect(rows.get(failed.id)?.["next_retry_at"]).not.toBeNull();
      expect(rows.get(failed.id)?.["last_error"]).toContain("500");
      expect(rows.get(dead.id)).toMatchObject({
        ...{ ...common, operation: "sync_tier", status: "dead", next_retry_at: null },
        ...{ retry_count: 0 },
      });
      expect(rows.get(done.id)).toMatchObject({
        status: "completed",
        priority: 7,
        last_error: null,
      });
      expect(rows.get(done.id)?.["completed_at"]).not.toBeNull();
      expect(rows.get(waiting.id)).toMatchObject({
        ...{ ...common, status: "pending", retry_count: 0, next_retry_at: null },
      });
      expect(JSON.parse(String(rows.get(waiting.id)?.["payload"]))).toEqual(
        PAYLOADS.update_contact,
      );
      await hf.close();
      await double.close();
      await place?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  );
});

describe("a sync in cycles", () => {
  it("ends a cycle whose jobs are held, and leaves them to the next one", async () => {
    const hf = new Holdfast({ store: memoryStore(), logger });
    hf.handle("x", () => {});
    await hf.enqueue("x", null, { queue: "held" });
    await hf.pause("held");
    const { signal } = new AbortController();
    expect(await runCycle(hf, { queue: "held", jobs: 4, signal })).toEqual({ ran: 0, failed: 0 });
    await hf.close();
  });

  it("ensures after 15 s, begins after 30 s, comes every 2 minutes, takes 20 jobs: unless told otherwise", () => {
    expect(checkCycles(true)).toEqual({
      ...{ ensureAfterMs: 15_000, startAfterMs: 30_000, everyMs: 120_000, jobs: 20 },
    });
    expect(() => checkCycles({ everyMS: 1 } as never)).toThrow(/did you mean "everyMs"/);
  });

  it("plans both when a worker starts, and leaves jobs to its cycles", async () => {
    const sync = hubspotSync({ token: "pat-eu1-none", cycles: true });
    const hf = new Holdfast({ store: memoryStore(), logger });
    const crm = sync.attach(hf);
    const worker = await crm.work();
    const [ensure] = (await hf.jobs({ queue: "hubspot.cycles" })).jobs;
    expect(ensure?.type).toBe("hubspot.ensure");
    expect(ensure!.runAt.getTime() - ensure!.createdAt.getTime()).toBe(15_000);
    const [schedule] = await hf.schedules.list();
    expect(schedule).toMatchObject({ name: "hubspot.cycle", everyMs: 120_000 });
    const [first, second] = schedule!.next;
    expect(second!.getTime() - first!.getTime()).toBe(120_000);
    const untilFirst = first!.getTime() - (await hf.storeTime()).getTime();
    expect(untilFirst).toBeGreaterThan(20_000);
    expect(untilFirst).toBeLessThanOrEqual(30_000);
    expect(crm.queues).toEqual(["hubspot.cycles"]);
    await worker.stop();
    await hf.close();
  });

  it("runs at most so many jobs in each, tracked as runs of its schedule", async () => {
    const double = await hubspotDouble();
    const cycles = { everyMs: 1_000, startAfterMs: 300, ensureAfterMs: 10, jobs: 4 };
    const sync = hubspotSync({ token: double.token, baseUrl: double.url, cycles });
    const hf = new Holdfast({ store: memoryStore(), logger });
    const crm = sync.attach(hf);
    for (let at = 0; at < 10; at += 1) {
      await crm.enqueue("create_contact", { email: `n${at}@example.com` });
    }
    const all = Promise.withResolvers<void>();
    let count = 0;
    hf.on("succeeded", ({ type }) => {
      if (type === "hubspot.create_contact" && (count += 1) === 10) all.resolve();
    });
    const worker = await crm.work();
    await all.promise;
    await worker.stop();
    const { runs } = await hf.schedules.runs("hubspot.cycle");
    const results = await Promise.all(
      runs.map(async ({ job }) => (job === null ? null : (await hf.job(job))?.result)),
    );
    const ran = results.flatMap((one) => (one as { ran?: number } | null)?.ran ?? []);
    expect(runs.some(({ state, outcome }) => state === "fired" && outcome === "succeeded")).toBe(
      true,
    );
    expect(Math.max(...ran)).toBe(4);
    expect(ran.filter((one) => one > 0).length).toBeGreaterThanOrEqual(2);
    expect(double.objects("contacts")).toHaveLength(10);
    await hf.close();
    await double.close();
  });
});
