/** On the two stores that need no server; test/cli/move.test.ts goes through all of them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MoveRefusedError } from "../core/errors.ts";
import type { AdoptedJob } from "../core/job.ts";
import { WAITING_ENTRIES, type LedgerEntry } from "../core/ledger.ts";
import type { OutboxItem, Store } from "../core/store.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { sqliteStore } from "../stores/sqlite/index.ts";
import { adoptedJob, key, newJob } from "../testing/conformance/new-job.ts";
import { adoptJobs } from "./adopt-jobs.ts";
import { exportJobs } from "./export-jobs.ts";
import { moveJobs } from "./move-jobs.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-move-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function opened(store: Store): Promise<Store> {
  await store.open();
  return store;
}

let files = 0;
const sqlite = () =>
  opened(sqliteStore({ file: join(folder, `${files++}.db`), synchronous: "normal" }));

/** Of every status, with keys of every lifetime. */
async function filled(): Promise<Store> {
  const store = await opened(memoryStore());
  const now = await store.now();
  const later = now + 3_600_000;
  const ended = { finishedAt: now - 1_000, startedAt: now - 2_000 };
  await store.adopt([
    adoptedJob({ createdAt: now, runAt: later, dedupe: key("kept", "kept") }),
    adoptedJob({ createdAt: now, dedupe: key("finish", "until-finished"), attempts: 2 }),
    adoptedJob({ createdAt: now, dedupe: key("ttl", { ttlMs: 60_000 }), group: "tenant-7" }),
    adoptedJob({ ...ended, status: "dead", reason: "failed", payload: '{"ü":"\\u0000"}' }),
    adoptedJob({ ...ended, status: "succeeded", result: '{"ok":true}', queue: "other" }),
    adoptedJob({ ...ended, status: "cancelled", reason: "not needed" }),
  ]);
  return store;
}

async function contents(store: Store, finished = true): Promise<readonly AdoptedJob[]> {
  const jobs: AdoptedJob[] = [];
  for await (const page of exportJobs(store, { finished })) jobs.push(...page);
  return jobs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

describe("a move", () => {
  it("one place under two names is refused, and none of its queues is held", async () => {
    const file = join(folder, "one.db");
    const [from, to] = [await opened(sqliteStore({ file })), await opened(sqliteStore({ file }))];
    await from.insert([newJob({ queue: "mail" })]);
    await expect(moveJobs({ from, to })).rejects.toThrow(MoveRefusedError);
    const { queue } = await from.lines("mail", { limit: 1, cursor: null });
    expect(queue?.holds).toEqual([]);
    const { records } = await to.records.scan({ prefix: "holdfast/move/", limit: 10 });
    expect(records).toEqual([]);
    await Promise.all([from.close(), to.close()]);
  });

  it("takes jobs of every status as they are, keys and their lifetimes included", async () => {
    const [from, to] = [await filled(), await sqlite()];
    const report = await moveJobs({ from, to, finished: true });
    expect(report).toMatchObject({ jobs: 6, added: 6, there: 0, different: [] });
    expect(report.checksums.to).toBe(report.checksums.from);
    expect(await contents(to)).toEqual(await contents(from));
  });

  it("leaves finished jobs behind unless it is told otherwise", async () => {
    const [from, to] = [await filled(), await sqlite()];
    expect(await moveJobs({ from, to })).toMatchObject({ jobs: 4, added: 4 });
    const statuses = (await contents(to)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(["queued", "dead"]));
  });

  it("that was cut off goes on where it was, and copies nothing twice", async () => {
    const [from, to] = [await filled(), await sqlite()];
    let calls = 0;
    const dying: Store = {
      ...to,
      adopt: async (jobs) => {
        if (++calls === 2) throw new Error("killed");
        return to.adopt(jobs);
      },
    };
    await expect(moveJobs({ from, to: dying, finished: true })).rejects.toThrow("killed");
    const before = (await contents(to)).length;
    expect(before).toBeGreaterThan(0);
    const report = await moveJobs({ from, to, finished: true });
    expect(report).toMatchObject({ jobs: 6, added: 6 - before, there: before, different: [] });
    expect(await contents(to)).toEqual(await contents(from));
  });

  it("pauses the old store, so that no job runs in both", async () => {
    const [from, to] = [await filled(), await sqlite()];
    await moveJobs({ from, to });
    const request = {
      worker: "w",
      leaseMs: 1_000,
      limit: 10,
      queues: [{ queue: "mail", limit: 10 }],
    };
    for (const { queue } of await from.count()) {
      const queues = [{ queue, limit: 10 }];
      expect((await from.lease({ ...request, queues })).jobs).toEqual([]);
    }
    const [counts] = await to.count();
    const queues = [{ queue: counts?.queue ?? "", limit: 10 }];
    expect((await to.lease({ ...request, queues })).jobs.length).toBe(2);
  });

  it("is refused while a job runs in the old store", async () => {
    const [from, to] = [await filled(), await sqlite()];
    const [first] = await from.count();
    const queues = [{ queue: first?.queue ?? "", limit: 1 }];
    await from.lease({ worker: "w", leaseMs: 60_000, limit: 1, queues });
    await expect(moveJobs({ from, to })).rejects.toThrow(MoveRefusedError);
    expect(await contents(to)).toEqual([]);
  });

  it("takes records, limits and holds along, and leaves the fleet behind", async () => {
    const [from, to] = [await filled(), await sqlite()];
    const put = (name: string, ttlMs: number | null) => ({
      ...{ key: name, expect: null, value: '{"a":1}', ttlMs },
    });
    await from.records.swap([
      ...[put("holdfast/gates/hubspot", null), put("holdfast/locks/x", 60_000)],
      put("holdfast/workers/process/1", 20_000),
    ]);
    const [first] = await from.count();
    const queue = first?.queue ?? "";
    await from.limit([
      { queue, group: null, maxActive: 5 },
      { queue, group: "tenant-7", weight: 3 },
    ]);
    const hold = { forMs: null, reason: "provider down", by: "ann" };
    await from.hold([{ queue, group: "tenant-7", owner: "gate:x", hold }]);
    expect(await moveJobs({ from, to })).toMatchObject({ records: 2 });
    const { queue: state, lines } = await to.lines(queue, { limit: 10 });
    expect(state).toMatchObject({ maxActive: 5, holds: [] });
    const line = lines.find(({ group }) => group === "tenant-7");
    expect(line).toMatchObject({ weight: 3, holds: [{ owner: "gate:x" }] });
    const [gate, lock, worker] = await to.records.read([
      ...["holdfast/gates/hubspot", "holdfast/locks/x", "holdfast/workers/process/1"],
    ]);
    expect([gate?.expiresAt, typeof lock?.expiresAt, worker]).toEqual([null, "number", null]);
  });

  it("takes along what still waited to be relayed, and pauses the queue that it came into", async () => {
    const [store, to] = [await filled(), await sqlite()];
    const spawned = newJob({ queue: "spawned" });
    const entry: LedgerEntry = {
      ...{ id: "entry-1", kind: "failure", jobId: null, type: null, queue: null, group: null },
      ...{ category: null, state: "open", body: "{}", at: null },
    };
    const items: OutboxItem[] = [
      { id: "1", kind: "jobs", jobs: [spawned] },
      { id: "2", kind: "entries", entries: [entry] },
    ];
    const from: Store = {
      ...store,
      outbox: {
        read: async (limit) => items.slice(0, limit),
        clear: async (ids) => void items.splice(0, ids.length),
      },
    };
    expect(await moveJobs({ from, to })).toMatchObject({ jobs: 5, added: 5, records: 1 });
    expect(items).toEqual([]);
    expect(await to.get([{ id: spawned.id }])).toMatchObject([{ queue: "spawned" }]);
    const [waiting] = await to.records.read([WAITING_ENTRIES + entry.id]);
    expect(JSON.parse(waiting?.value ?? "null")).toEqual(entry);
    const { queue } = await from.lines("spawned", { limit: 1 });
    expect(queue?.holds).toHaveLength(1);
  });

  it("has few jobs in memory where they are large", async () => {
    const store = await opened(memoryStore());
    const payload = JSON.stringify("x".repeat(500_000));
    await store.insert(Array.from({ length: 60 }, () => newJob({ payload })));
    let most = 0;
    const from: Store = {
      ...store,
      get(refs) {
        most = Math.max(most, refs.length);
        return store.get(refs);
      },
    };
    const pages: number[] = [];
    for await (const page of exportJobs(from)) pages.push(page.length);
    expect(pages.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(Math.max(...pages)).toBeLessThan(12);
    expect(most).toBeLessThanOrEqual(20);
  });

  it("names a job that is different in the new store", async () => {
    const [from, to] = [await filled(), await sqlite()];
    const [job] = await contents(from, false);
    await to.adopt([{ ...(job as AdoptedJob), payload: '"other"' }]);
    const report = await moveJobs({ from, to });
    expect(report.different).toEqual([job?.id]);
    expect(report.checksums.to).not.toBe(report.checksums.from);
  });

  it("a job whose key another job has comes without it", async () => {
    const to = await sqlite();
    await to.insert([newJob({ dedupe: key("k") })]);
    const job = adoptedJob({ dedupe: key("k", "kept", "another hash") });
    expect(await adoptJobs(to, [job])).toEqual(["without key"]);
    expect(await adoptJobs(to, [job])).toEqual(["there"]);
  });
});
