/** Execution locks: work of one owner, key and scope runs once at a time, and not again once it is done. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidNameError,
  InvalidOptionError,
  isSkipped,
  LockNotFoundError,
  StoreUnavailableError,
  type Holdfast,
  type RunningJob,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

interface Snapshot {
  readonly companyId: string;
  readonly month?: string;
  readonly rows?: number;
  readonly apiToken?: string;
  /** What its handler does. */
  readonly does?: "fail" | "snooze" | "cancel";
}

const RUNNING = { skipped: "already_running" };
const COMPLETED = { skipped: "already_completed" };
const STALE_MS = 60_000;

describe.each(EVERY_STORE)("locks on %s", { timeout: 120_000 }, (name) => {
  let world: World;
  /** The jobs whose handlers started. */
  let ran: string[];
  /** Handlers wait here. */
  let gate: Promise<void> | null;
  let open: () => void;
  beforeEach(async () => {
    world = await openWorld(name);
    ran = [];
    gate = null;
  });
  afterEach(async () => {
    if (gate) open();
    await world.close();
  });

  function shut(): void {
    ({ promise: gate, resolve: open } = Promise.withResolvers<void>());
  }

  function snapshots(options = {}, contract = {}) {
    const process = world.process(options);
    process.hf.define({
      type: "snapshot",
      retry: { maxAttempts: 2, baseMs: 100, jitter: 0 },
      lock: {
        key: "monthly_snapshot",
        scope: (p: Snapshot) => `${p.companyId}:${p.month ?? "full"}`,
        staleMs: STALE_MS,
      },
      ...contract,
      async run(job: RunningJob<Snapshot>) {
        ran.push(job.id);
        await gate;
        if (job.payload.does === "fail") throw new Error("no");
        if (job.payload.does === "snooze" && ran.length === 1) return job.snooze(5_000);
        if (job.payload.does === "cancel") return job.cancel("enough");
        return { rows: 7 };
      },
    });
    return process;
  }

  async function working(options = {}, contract = {}): Promise<Holdfast> {
    const { hf } = snapshots(options, contract);
    await hf.work();
    return hf;
  }

  /** Enqueues it and lets it go as far as it goes. */
  async function enqueue(hf: Holdfast, payload: Snapshot, options = {}): Promise<string> {
    const { id } = await hf.enqueue("snapshot", payload, options);
    await world.advance(1_000);
    return id;
  }

  /** A server is told of it when time moves on; a worker may lease before that. */
  async function jump(ms: number): Promise<void> {
    world.jumpStoreClock(ms);
    await world.advance(50);
  }

  const resultOf = async (hf: Holdfast, id: string) => (await hf.job(id))?.result;

  it("no lock: the job runs, and the lock says so until it is done", async () => {
    const hf = await working();
    shut();
    const id = await enqueue(hf, { companyId: "acme" });
    expect(ran).toEqual([id]);
    const held = { key: "monthly_snapshot", scope: "acme:full", owner: "acme", jobId: id };
    const { locks } = await hf.locks.list({ key: "monthly_snapshot", state: "running" });
    expect(locks).toMatchObject([{ ...held, state: "running", finishedAt: null }]);
    open();
    await world.advance(1_000);
    const lock = await hf.locks.get(locks[0]?.id ?? "");
    expect(lock).toMatchObject({ ...held, state: "completed", finishedAt: expect.any(Date) });
    expect(lock?.payloadHash).toMatch(/^[0-9a-f]{16}$/);
    expect(await resultOf(hf, id)).toEqual({ rows: 7 });
  });

  it("running: a second job of its scope is skipped, one of another scope is not", async () => {
    const hf = await working();
    shut();
    const first = await enqueue(hf, { companyId: "acme" });
    const second = await enqueue(hf, { companyId: "acme", rows: 2 });
    const other = await enqueue(hf, { companyId: "acme", month: "2026-01" });
    expect(ran).toEqual([first, other]);
    expect(await hf.job(second)).toMatchObject({ status: "succeeded", result: RUNNING });
    expect(isSkipped(await resultOf(hf, second))).toBe(true);
  });

  it("running, however old: a holder that a worker has is not taken over", async () => {
    const hf = await working({}, { lock: { key: "k", scope: () => "s", staleMs: 2_000 } });
    shut();
    await enqueue(hf, { companyId: "acme" });
    await world.advance(15_000);
    const second = await enqueue(hf, { companyId: "acme" });
    expect(ran).toHaveLength(1);
    expect(await resultOf(hf, second)).toEqual(RUNNING);
  });

  it("running, and its job is gone: skipped until it is stale, then taken over", async () => {
    const holder = snapshots();
    await holder.hf.work();
    shut();
    const id = await enqueue(holder.hf, { companyId: "acme" });
    holder.kill();
    const { hf: reaping } = world.process();
    reaping.define({ type: "other", queue: "other", run() {} });
    await reaping.work();
    await world.advance(15_000);
    await reaping.remove(id);
    expect(await reaping.job(id)).toBeNull();
    open();
    gate = null;
    const next = await working();
    const early = await enqueue(next, { companyId: "acme" });
    expect(await resultOf(next, early)).toEqual(RUNNING);
    await jump(STALE_MS);
    const late = await enqueue(next, { companyId: "acme" });
    expect(await resultOf(next, late)).toEqual({ rows: 7 });
  });

  it("completed, same payload: skipped, whatever its secrets and the order of its keys", async () => {
    const hf = await working();
    await enqueue(hf, { companyId: "acme", rows: 1, apiToken: "one" });
    const second = await enqueue(hf, { apiToken: "two", rows: 1, companyId: "acme" });
    expect(ran).toHaveLength(1);
    expect(await hf.job(second)).toMatchObject({ status: "succeeded", result: COMPLETED });
  });

  it("completed, other payload: it runs again", async () => {
    const hf = await working();
    await enqueue(hf, { companyId: "acme", rows: 1 });
    const second = await enqueue(hf, { companyId: "acme", rows: 2 });
    const third = await enqueue(hf, { companyId: "acme", rows: 2 });
    expect(ran).toHaveLength(2);
    expect(await resultOf(hf, second)).toEqual({ rows: 7 });
    expect(await resultOf(hf, third)).toEqual(COMPLETED);
  });

  it("failed: the job's own retry runs, and so does the next one", async () => {
    const hf = await working();
    const first = await enqueue(hf, { companyId: "acme", does: "fail" });
    expect(await hf.job(first)).toMatchObject({ status: "dead", attempts: 2 });
    expect((await hf.locks.list()).locks).toMatchObject([{ state: "failed", jobId: first }]);
    const second = await enqueue(hf, { companyId: "acme" });
    expect(ran).toEqual([first, first, second]);
    expect(await resultOf(hf, second)).toEqual({ rows: 7 });
    // The dead one is replayed: its payload is another.
    await hf.retry(first, { attempts: 1 });
    await world.advance(1_000);
    expect(ran).toHaveLength(4);
  });

  it("of fifty jobs of one scope, on two processes at once, one runs", async () => {
    const processes = [snapshots(), snapshots()];
    const items = Array.from({ length: 50 }, () => ({
      ...{ type: "snapshot", payload: { companyId: "acme" }, queue: "default" },
    }));
    const receipts = await processes[0]!.hf.enqueueAll(items);
    for (const { hf } of processes) await hf.work({ concurrency: 25 });
    await world.advance(2_000);
    expect(ran).toHaveLength(1);
    const { hf } = processes[0]!;
    const jobs = (await hf.jobs({ limit: 200 })).jobs;
    expect(jobs).toHaveLength(receipts.length);
    expect(jobs.filter(({ result }) => isSkipped(result))).toHaveLength(49);
    expect(jobs.every(({ status }) => status === "succeeded")).toBe(true);
  });

  it("a holder is killed: the next one runs as soon as the lease is over", async () => {
    const holder = snapshots({}, { retry: { maxAttempts: 1 } });
    await holder.hf.work();
    shut();
    const first = await enqueue(holder.hf, { companyId: "acme" });
    holder.kill();
    open();
    gate = null;
    const hf = await working();
    const early = await enqueue(hf, { companyId: "acme" });
    expect(await resultOf(hf, early)).toEqual(RUNNING);
    await world.advance(13_000);
    expect(await hf.job(first)).toMatchObject({ status: "dead", reason: "crashed" });
    const next = await enqueue(hf, { companyId: "acme" });
    expect(ran).toEqual([first, next]);
    expect(await resultOf(hf, next)).toEqual({ rows: 7 });
  });

  it("a killed holder that has attempts left takes its own lock again", async () => {
    const holder = snapshots();
    await holder.hf.work();
    shut();
    const first = await enqueue(holder.hf, { companyId: "acme" });
    holder.kill();
    open();
    gate = null;
    const hf = await working();
    await world.advance(13_000);
    expect(ran).toEqual([first, first]);
    expect((await hf.locks.list()).locks).toMatchObject([{ state: "completed", jobId: first }]);
  });

  it("a record that was not written after the settle is repaired by its next reader", async () => {
    const hf = await working({ link: withRecords(refuseWords('"completed"')) });
    const first = await enqueue(hf, { companyId: "acme" });
    await world.advance(10_000);
    const { hf: other } = snapshots();
    const second = await (await other.work(), enqueue(other, { companyId: "acme" }));
    // Whichever of the two processes it was, it asked the job.
    expect(await resultOf(hf, second)).toEqual(COMPLETED);
    expect(ran).toEqual([first]);
    expect((await other.locks.list()).locks).toMatchObject([{ state: "completed" }]);
  });

  it("a snooze and a cancel free the lock", async () => {
    const hf = await working();
    const snoozed = await enqueue(hf, { companyId: "acme", does: "snooze" });
    expect((await hf.locks.list()).locks).toEqual([]);
    const between = await enqueue(hf, { companyId: "acme" });
    await world.advance(5_000);
    expect(ran).toEqual([snoozed, between, snoozed]);
    const cancelled = await enqueue(hf, { companyId: "zeta", does: "cancel" });
    expect(await hf.job(cancelled)).toMatchObject({ status: "cancelled" });
    expect((await hf.locks.list({ owner: "zeta" })).locks).toEqual([]);
  });

  it("a worker that stops frees the lock of what it hands back", async () => {
    const { hf } = snapshots();
    const worker = await hf.work();
    hf.define({
      type: "slow",
      lock: { key: "slow", scope: () => "all" },
      run: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    });
    await hf.enqueue("slow", null);
    await world.advance(500);
    const stopping = worker.stop({ graceMs: 0 });
    await world.advance(1_000);
    await stopping;
    expect((await hf.locks.list()).locks).toEqual([]);
  });

  it("a lock that does not answer within two seconds: the job runs, counted and logged", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- no promise: the world waits for those on their way
    const hang = withRecords(() => ({ then() {} }) as unknown as Promise<never>);
    const process = snapshots({ link: hang });
    await process.hf.work();
    const { id } = await process.hf.enqueue("snapshot", { companyId: "acme" });
    await world.advance(1_500);
    expect(ran).toEqual([]);
    await world.advance(3_000);
    expect(ran).toEqual([id]);
    expect(process.hf.locks.failedOpen).toBe(1);
    expect(process.said.join()).toMatch(/runs without its lock/);
    expect(await resultOf(process.hf, id)).toEqual({ rows: 7 });
  });

  it("a lock that is broken: the job runs, counted and logged", async () => {
    const process = snapshots({ link: withRecords(() => Promise.reject(new Error("disk"))) });
    await process.hf.work();
    const id = await enqueue(process.hf, { companyId: "acme" });
    expect(ran).toEqual([id]);
    expect(process.hf.locks.failedOpen).toBe(1);
  });

  it("the reply to the question gets lost: the job has its lock, and runs once", async () => {
    let lost = 0;
    const losing = withRecords(async (call) => {
      const reply = await call();
      if ((lost += 1) > 1) return reply;
      throw new StoreUnavailableError("lost", { mayHaveHappened: true });
    });
    const hf = await working({ link: losing });
    const id = await enqueue(hf, { companyId: "acme" });
    expect(lost).toBeGreaterThan(1);
    expect(ran).toEqual([id]);
    expect(hf.locks.failedOpen).toBe(0);
    expect((await hf.locks.list()).locks).toMatchObject([{ state: "completed", jobId: id }]);
  });

  it("a scope that throws, is no text, is empty or too long: the job is dead, and does not run", async () => {
    const scopes = {
      throws: () => (null as never as string).length,
      number: () => 7,
      empty: () => "",
      long: () => "x".repeat(513),
      promise: async () => "later",
    };
    const { hf } = world.process();
    for (const [type, scope] of Object.entries(scopes)) {
      hf.define({ type, lock: { key: "k", scope } as never, run: () => void ran.push(type) });
    }
    await hf.work();
    for (const type of Object.keys(scopes)) {
      const { id } = await hf.enqueue(type, { companyId: "acme" });
      await world.advance(500);
      const job = await hf.job(id);
      expect(job, type).toMatchObject({ status: "dead", reason: "validation" });
      expect(job?.error?.category).toBe("validation");
      expect(job?.error?.message).toMatch(/scope of lock k must be a text of 1 to 512 characters/);
      expect((await hf.failures.list({ jobId: id })).failures).toMatchObject([{ final: true }]);
    }
    expect(ran).toEqual([]);
    expect((await hf.locks.list()).locks).toEqual([]);
  });

  it("whose lock it is: the owner that is said, else the company, else the group", async () => {
    const { hf } = world.process();
    const lock = { key: "k", scope: () => "s" };
    hf.define({ type: "said", lock: { ...lock, owner: () => "mine" }, run() {} });
    hf.define({ type: "plain", lock, run() {} });
    await hf.work();
    await hf.enqueue("said", { companyId: "acme" });
    await hf.enqueue("plain", { companyId: "acme" });
    await hf.enqueue("plain", null, { group: "g-1" });
    await hf.enqueue("plain", null);
    await world.advance(1_000);
    const { locks } = await hf.locks.list({ key: "k", scope: "s" });
    expect(locks.map(({ owner }) => owner).toSorted()).toEqual(["", "acme", "g-1", "mine"]);
  });

  it("a scope may use the day on which its job was made, which retries do not change", async () => {
    const { hf } = world.process();
    const seen: string[] = [];
    hf.define({
      type: "insights",
      retry: { maxAttempts: 2, baseMs: 86_400_000, maxMs: 86_400_000, jitter: 0 },
      lock: { key: "ai", scope: (_, job) => job.createdAt.toISOString().slice(0, 10) },
      async run() {
        seen.push((await hf.locks.list()).locks[0]?.scope ?? "");
        if (seen.length === 1) throw new Error("again tomorrow");
      },
    });
    await hf.work();
    await hf.enqueue("insights", null);
    await world.advance(1_000);
    await jump(86_400_000);
    await world.advance(2_000);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(seen[0]);
  });

  it("a lock that a person releases is free, and the ledger has who and why", async () => {
    const hf = await working();
    await enqueue(hf, { companyId: "acme" });
    const [lock] = (await hf.locks.list()).locks;
    await hf.locks.release(lock?.id ?? "", { by: "ann", reason: "the numbers were wrong" });
    expect(await hf.locks.get(lock?.id ?? "")).toBeNull();
    await enqueue(hf, { companyId: "acme" });
    expect(ran).toHaveLength(2);
    const { entries } = await hf.ledger({ kind: "audit" });
    expect(entries[0]?.body).toMatchObject({
      ...{ action: "release lock", by: "ann", reason: "the numbers were wrong" },
      details: { key: "monthly_snapshot", scope: "acme:full", owner: "acme" },
    });
    await expect(hf.locks.release("none")).rejects.toThrow(LockNotFoundError);
  });

  it("a lock released under a running holder is not taken back when that ends", async () => {
    const hf = await working();
    shut();
    await enqueue(hf, { companyId: "acme" });
    const [lock] = (await hf.locks.list()).locks;
    await hf.locks.release(lock?.id ?? "");
    open();
    await world.advance(1_000);
    expect((await hf.locks.list()).locks).toEqual([]);
  });

  it("what is done is remembered for 90 days", async () => {
    const hf = await working();
    await enqueue(hf, { companyId: "acme" });
    await jump(89 * 86_400_000);
    await enqueue(hf, { companyId: "acme" });
    expect(ran).toHaveLength(1);
    await jump(2 * 86_400_000);
    await enqueue(hf, { companyId: "acme" });
    expect(ran).toHaveLength(2);
  });

  it("with a ledger elsewhere, locks are there: what is done outlives its jobs", async () => {
    const ledger = memoryStore({ now: () => world.time.now });
    await ledger.open();
    const hf = await working({ ledger: { ...ledger, close: async () => {} } });
    const id = await enqueue(hf, { companyId: "acme" });
    const scan = { prefix: "holdfast/locks/", limit: 10 };
    expect((await world.store.records.scan(scan)).records).toEqual([]);
    expect((await ledger.records.scan(scan)).records).toHaveLength(1);
    await hf.remove(id);
    const again = await enqueue(hf, { companyId: "acme" });
    expect(await resultOf(hf, again)).toEqual(COMPLETED);
    expect((await hf.locks.list()).locks).toMatchObject([{ state: "completed", jobId: id }]);
  });

  it("locks are listed page by page", async () => {
    const hf = await working();
    for (const month of ["01", "02", "03"]) await enqueue(hf, { companyId: "acme", month });
    const first = await hf.locks.list({ limit: 2 });
    const rest = await hf.locks.list({ limit: 2, cursor: first.nextCursor });
    expect(rest.nextCursor).toBeNull();
    const scopes = [...first.locks, ...rest.locks].map(({ scope }) => scope).toSorted();
    expect(scopes).toEqual(["acme:01", "acme:02", "acme:03"]);
    expect((await hf.locks.list({ key: "other" })).locks).toEqual([]);
  });

  it("a lock or a query that is none is refused with what would be one", async () => {
    const { hf } = world.process();
    const define = (lock: object) => () =>
      hf.define({ type: "bad", lock: lock as never, run() {} });
    expect(define({ key: "k", scopes: () => "s" })).toThrow(/did you mean "scope"/);
    expect(define({ key: "k" })).toThrow(/lock.scope must be a function/);
    expect(define({ key: "a b", scope: () => "s" })).toThrow(InvalidNameError);
    expect(define({ key: "k", scope: () => "s", staleMs: 0 })).toThrow(InvalidOptionError);
    expect(define({ key: "k", scope: () => "s", owner: "acme" })).toThrow(/lock.owner/);
    await expect(hf.locks.list({ state: "runing" as never })).rejects.toThrow(/"running"/);
    await expect(hf.locks.list({ limit: 0 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.locks.get(7 as never)).rejects.toThrow(InvalidOptionError);
  });
});

type Around = (call: () => Promise<unknown>, words: string) => Promise<unknown>;

/** Stands between a process and the records of its locks. */
function withRecords(around: Around): (store: Store) => Store {
  return (store) => {
    const swap: Store["records"]["swap"] = (swaps) => {
      const words = JSON.stringify(swaps);
      const isLock = words.includes("holdfast/locks/");
      const call = () => store.records.swap(swaps);
      return isLock ? (around(call, words) as ReturnType<typeof call>) : call();
    };
    const records = { ...store.records, swap };
    return new Proxy(store, {
      get: (target, name) =>
        name === "records" ? records : (Reflect.get(target, name) as unknown),
    });
  };
}

function refuseWords(words: string): Around {
  return (call, given) =>
    given.includes(words.replaceAll('"', '\\"')) ? Promise.reject(new Error("no")) : call();
}
