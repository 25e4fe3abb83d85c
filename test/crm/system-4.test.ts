/** What system 4's text says in passing: its formula, a cycle of 20, the monitor's 20, a job that is being processed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { defineSync, hubspotSync, hubspotViews } from "@holdfast/crm";
import { hubspotDouble } from "@holdfast/crm/double";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { sqliteStore } from "holdfast/sqlite";
import { testHoldfast } from "holdfast/testing";
import { z } from "zod";
import { SYSTEM_RETRY } from "../../packages/crm/src/sync/define-sync.ts";
import { runCycle } from "../../packages/crm/src/sync/run-cycle.ts";
import { backoffMs } from "../../packages/holdfast/src/core/backoff.ts";
import { crmWorld, PAYLOADS } from "./crm-world.ts";

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe("system 4", () => {
  it("waits min(1 minute × 2^retries, 1 hour) between tries, with no chance in it", () => {
    for (let retries = 1; retries < 20; retries += 1) {
      const expected = Math.min(60_000 * 2 ** retries, 3_600_000);
      for (const chance of [0, 0.5, 0.999]) {
        expect(backoffMs(SYSTEM_RETRY, retries, null, chance)).toBe(expected);
      }
    }
    expect(SYSTEM_RETRY.maxAttempts).toBe(1 + 5);
  });

  it("takes 20 jobs in a cycle, the most urgent and then the oldest, and leaves the others", async () => {
    const double = await hubspotDouble();
    const hf = new Holdfast({ store: memoryStore(), logger });
    const crm = hubspotSync({ token: double.token, baseUrl: double.url, cycles: true }).attach(hf);
    await crm.ensure();
    for (let at = 0; at < 26; at += 1) {
      const priority = at < 5 ? 9 : 1 + (at % 5);
      await crm.enqueue("create_contact", { email: `n${at}@example.com` }, { priority });
    }
    const { signal } = new AbortController();
    const asked = { queue: "hubspot", jobs: 20, signal };
    expect(await runCycle(hf, asked)).toEqual({ ran: 20, failed: 0 });
    const { jobs } = await hf.jobs({ queue: "hubspot", status: "queued", limit: 50 });
    const left = jobs.map(({ priority, payload }) => [
      priority,
      (payload as { email: string }).email,
    ]);
    // Five of the last priority, and the youngest of the one before it.
    expect(left.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
      ...[
        [5, "n24@example.com"],
        [9, "n0@example.com"],
        [9, "n1@example.com"],
      ],
      ...[
        [9, "n2@example.com"],
        [9, "n3@example.com"],
        [9, "n4@example.com"],
      ],
    ]);
    expect(await runCycle(hf, asked)).toEqual({ ran: 6, failed: 0 });
    await hf.close();
    await double.close();
  });

  it("ends a cycle when its jobs have ended, however slow the other side is", async () => {
    const t = testHoldfast({ logger });
    const answered = Promise.withResolvers<void>();
    let asked = 0;
    const crm = defineSync({
      ...{ name: "slow", client: () => null, cycles: true, limits: { breaker: null } },
      operations: {
        save: {
          payload: z.object({ id: z.string() }),
          record: ({ id }) => id,
          load: async () => ({
            async run({ signal }) {
              asked += 1;
              const cut = new Promise((_, reject) => {
                signal.addEventListener("abort", () => reject(signal.reason as Error));
              });
              await Promise.race([answered.promise, cut]);
            },
          }),
        },
      },
    }).attach(t.hf as Holdfast);
    for (const id of ["a", "b", "c"]) await crm.enqueue("save", { id });
    const { signal } = new AbortController();
    const cycle = runCycle(t.hf as Holdfast, { queue: "slow", jobs: 2, signal });
    await expect.poll(() => asked).toBe(2);
    await t.advance(60_000);
    answered.resolve();
    expect(await cycle).toEqual({ ran: 2, failed: 0 });
    expect((await t.hf.counts())["slow"]).toMatchObject({ succeeded: 2, ready: 1 });
    await t.hf.close();
  });

  it("shows the 20 newest of the jobs that failed, each with its error, retries and next time", async () => {
    const world = await crmWorld({ limits: { breaker: null } });
    await world.crm.ensure();
    world.double.faults.add({ kind: "status", status: 500, times: Infinity });
    const ids: string[] = [];
    for (let at = 0; at < 25; at += 1) {
      const { id } = await world.crm.enqueue("create_contact", { email: `n${at}@example.com` });
      ids.push(id);
      await world.t.advance(10);
    }
    await world.drain();
    const { recentFailures, counts } = await world.crm.monitor();
    expect(counts.failed).toBe(25);
    expect(recentFailures.map(({ id }) => id).toSorted()).toEqual(ids.slice(5).toSorted());
    for (const one of recentFailures) {
      expect(one).toMatchObject({ operation: "create_contact", retryCount: 1, maxRetries: 5 });
      expect(one.error).toContain("500");
      expect(one.nextRetryAt.getTime()).toBeGreaterThan(world.t.now());
    }
    await world.close();
  });

  it("counts and shows a job while it is processed, and how long it took", async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-crm-"));
    const file = join(folder, "jobs.db");
    const double = await hubspotDouble();
    const hf = new Holdfast({ store: sqliteStore({ file, views: hubspotViews() }), logger });
    const crm = hubspotSync({ token: double.token, baseUrl: double.url }).attach(hf);
    await crm.ensure();
    double.faults.add({ kind: "slow", ms: 1_000, path: "/crm/objects" });
    const started = new Promise((resolve) => void hf.on("started", resolve));
    const worker = await crm.work();
    const { id } = await crm.enqueue("update_contact", PAYLOADS.update_contact);
    await started;
    expect(await crm.stats()).toMatchObject({ processing: 1, pending: 0 });
    expect((await crm.monitor()).counts).toMatchObject({ processing: 1, pending: 0 });
    const table = new DatabaseSync(file);
    const row = table.prepare("SELECT * FROM hubspot_sync_queue WHERE id = ?").get(id);
    expect(row).toMatchObject({ status: "processing", retry_count: 0, completed_at: null });
    table.close();
    await hf.waitFor(id);
    await worker.stop();
    // What is slow by a second takes that at least.
    await expect.poll(async () => (await crm.monitor()).averageProcessingMs).toBeGreaterThan(900);
    expect(await crm.stats()).toMatchObject({ processing: 0, completed: 1 });
    await hf.close();
    await double.close();
    await rm(folder, { recursive: true, force: true });
  });
});
