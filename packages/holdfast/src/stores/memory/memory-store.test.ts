import { describe, expect, it } from "vitest";
import { ClosedError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { LeasedJob, LeaseRequest, Store, Wakeup } from "../../core/store.ts";
import { memoryStore } from "./index.ts";

function newJob(id: string, overrides: Partial<NewJob> = {}): NewJob {
  return {
    id,
    queue: "mail",
    group: "",
    type: "email.send",
    payload: "{}",
    priority: 100,
    delayMs: 0,
    runAt: null,
    maxAttempts: 5,
    dedupe: null,
    tags: [],
    meta: null,
    trace: null,
    ...overrides,
  };
}

function request(limit: number, overrides: Partial<LeaseRequest> = {}): LeaseRequest {
  return { worker: "w", leaseMs: 10_000, limit, queues: [{ queue: "mail", limit }], ...overrides };
}

async function openStore(): Promise<{ store: Store; advance: (ms: number) => void }> {
  let now = 1_000_000;
  const store = memoryStore({ now: () => now });
  await store.open();
  return { store, advance: (ms) => void (now += ms) };
}

async function insertMany(store: Store, count: number, groups: number): Promise<void> {
  for (let from = 0; from < count; from += 200) {
    const ids = Array.from({ length: Math.min(200, count - from) }, (_, index) => from + index);
    await store.insert(ids.map((id) => newJob(`job-${id}`, { group: `g-${id % groups}` })));
  }
}

function succeeded(job: LeasedJob) {
  return { ...job, outcome: { kind: "succeed", result: null, resultDropped: false } as const };
}

describe("the life of a memory store", () => {
  it("says to open it first", async () => {
    await expect(memoryStore().count()).rejects.toThrow(ClosedError);
    await expect(memoryStore().count()).rejects.toThrow("call open() first");
  });

  it("refuses every verb once it is closed", async () => {
    const { store } = await openStore();
    await store.close();
    await expect(store.insert([newJob("a")])).rejects.toThrow(ClosedError);
    await expect(store.records.read(["a"])).rejects.toThrow(ClosedError);
    await expect(store.now()).rejects.toThrow(ClosedError);
  });

  it("has kept everything when the same object is opened again", async () => {
    const { store } = await openStore();
    await store.insert([newJob("a")]);
    await store.close();
    await store.open();
    expect((await store.lease(request(1))).jobs.map((job) => job.id)).toEqual(["a"]);
  });
});

describe("what crosses the border of a memory store", () => {
  it("is a copy on the way out", async () => {
    const { store } = await openStore();
    await store.insert([newJob("a", { tags: ["x"] })]);
    const { jobs } = await store.lease(request(1));
    for (const job of jobs) (job.tags as string[]).push("y");
    const [seen] = await store.get([{ id: "a" }]);
    if (seen === null || seen === undefined || seen === "pruned") throw new Error("no job");
    expect(seen.tags).toEqual(["x"]);
    Object.assign(seen, { status: "dead" });
    expect((await store.find({}, { limit: 1 })).jobs[0]?.status).toBe("processing");
  });

  it("is a copy on the way in", async () => {
    const { store } = await openStore();
    const tags = ["x"];
    await store.insert([newJob("a", { tags })]);
    tags.push("y");
    expect((await store.find({ tag: "y" }, { limit: 1 })).jobs).toEqual([]);
  });
});

describe("wakeups of a memory store", () => {
  it("come once for several verbs, and never inside one", async () => {
    const { store } = await openStore();
    const heard: Wakeup[] = [];
    store.onWakeup((wakeup) => heard.push(wakeup));
    const both = [
      store.insert([newJob("a"), newJob("b", { queue: "sms" })]),
      store.insert([newJob("c"), newJob("d", { delayMs: 1 })]),
    ];
    expect(heard).toEqual([]);
    await Promise.all(both);
    expect(heard).toEqual([{ queues: ["mail", "sms"], finished: [] }]);
  });

  it("tell of room in a full line when somebody waits for it", async () => {
    const { store } = await openStore();
    await store.limit([{ queue: "mail", group: "", maxActive: 1 }]);
    await store.insert([newJob("a"), newJob("b")]);
    const { jobs, nextInMs } = await store.lease(request(2));
    expect(jobs.map((job) => job.id)).toEqual(["a"]);
    expect(nextInMs).toBeNull();
    const heard: Wakeup[] = [];
    store.onWakeup((wakeup) => heard.push(wakeup));
    await store.settle(jobs.map(succeeded));
    expect(heard).toEqual([{ queues: ["mail"], finished: ["a"] }]);
  });

  it("stop with their listener", async () => {
    const { store } = await openStore();
    const heard: Wakeup[] = [];
    const stop = store.onWakeup((wakeup) => heard.push(wakeup));
    stop();
    await store.insert([newJob("a")]);
    expect(heard).toEqual([]);
  });
});

describe("a lease of a memory store", () => {
  it("moves a burst of due jobs in bounded steps and says that there is more", async () => {
    const { store, advance } = await openStore();
    const held = Array.from({ length: 500 }, (_, n) =>
      newJob(`h-${n}`, { group: "h", delayMs: 5 }),
    );
    for (let from = 0; from < 500; from += 100) await store.insert(held.slice(from, from + 100));
    await store.insert([newJob("last", { group: "open", delayMs: 6 })]);
    const hold = { forMs: null, reason: "test", by: null };
    await store.hold([{ queue: "mail", group: "h", owner: "pause", hold }]);
    advance(10);
    const replies = [];
    for (let call = 0; call < 3; call++) replies.push(await store.lease(request(1)));
    expect(replies.map((reply) => reply.jobs.length)).toEqual([0, 0, 1]);
    expect(replies.map((reply) => reply.nextInMs)).toEqual([0, 0, null]);
  });

  it("never begins a heavy line's turn again because callers passed it by", async () => {
    const { store } = await openStore();
    await store.limit([
      { queue: "mail", group: null, maxActive: 1_000 },
      { queue: "mail", group: "g-0", weight: 3 },
    ]);
    await insertMany(store, 40, 2);
    const groups: string[] = [];
    for (let call = 0; call < 8; call++) {
      expect((await store.lease(request(1, { cappedLimit: 0 }))).jobs).toEqual([]);
      const { jobs } = await store.lease(request(1));
      groups.push(...jobs.map((job) => job.group));
    }
    expect(groups.filter((group) => group === "g-1")).toHaveLength(2);
  });

  it("drains a hundred thousand jobs over a thousand lines, fairly to the end", async () => {
    const { store } = await openStore();
    await insertMany(store, 100_000, 1_000);
    const firstRound = new Set<string>();
    let leased = 0;
    for (let jobs = [] as readonly LeasedJob[]; ;) {
      ({ jobs } = await store.lease(request(200)));
      if (jobs.length === 0) break;
      if (leased < 1_000) for (const job of jobs) firstRound.add(job.group);
      leased += jobs.length;
      await store.settle(jobs.map(succeeded));
    }
    expect(leased).toBe(100_000);
    expect(firstRound.size).toBe(1_000);
    expect(await store.count()).toMatchObject([{ ready: 0, processing: 0, succeeded: 100_000 }]);
  });
});
