import { describe, expect, it } from "vitest";
import { askLock, judgedLock, lockText, needsHolder, type LockRecord } from "./lock.ts";

const record: LockRecord = {
  ...{ id: "1", key: "k", scope: "s", owner: "o", state: "running", hash: "a", jobId: "holder" },
  ...{ fence: 5_000, type: "t", queue: "q", group: null, company: null, staleMs: 100 },
  ...{ startedAt: 1_000, finishedAt: null },
};
const claim: LockRecord = { ...record, jobId: "other", fence: 9_000, startedAt: 1_050 };
const held = { status: "processing", fence: 5_000, finishedAt: null } as const;

describe("askLock", () => {
  it("gives a free lock to the attempt that asks", () => {
    expect(askLock(null, claim, null)).toEqual([claim, "run"]);
    expect(askLock({ ...record, state: "failed" }, claim, null)).toEqual([claim, "run"]);
  });

  it("believes the holder's job, not the record", () => {
    expect(askLock(record, { ...claim, startedAt: 10 ** 9 }, held)[1]).toBe("already_running");
    expect(askLock(record, claim, { ...held, fence: 6_000 })[1]).toBe("run");
    for (const status of ["queued", "dead", "cancelled"] as const) {
      expect(askLock(record, claim, { ...held, status })[1]).toBe("run");
    }
    const done = { ...held, status: "succeeded", finishedAt: 1_020 } as const;
    const repaired = { ...record, state: "completed", finishedAt: 1_020 };
    expect(askLock(record, claim, done)).toEqual([repaired, "already_completed"]);
    expect(askLock(record, { ...claim, hash: "b" }, done)[1]).toBe("run");
  });

  it("goes by age where the job is gone", () => {
    expect(askLock(record, { ...claim, startedAt: 1_099 }, null)[1]).toBe("already_running");
    expect(askLock(record, { ...claim, startedAt: 1_100 }, null)[1]).toBe("run");
  });

  it("lets a job have its own lock, but not an attempt that was outrun", () => {
    const own = { ...claim, jobId: "holder" };
    expect(needsHolder(record, own)).toBe(false);
    expect(askLock(record, own, null)).toEqual([own, "run"]);
    expect(askLock({ ...record, fence: 9_001 }, own, null)[1]).toBe("outrun");
  });

  it("changes nothing of what is completed or failed when it is looked at", () => {
    const completed = { ...record, state: "completed" } as const;
    expect(judgedLock(completed, held, { now: 10 ** 9, staleMs: 1 })).toBe(completed);
  });
});

describe("lockText", () => {
  it("is the same whatever the order of keys and what is secret", () => {
    const one = lockText('{"b":[{"apiKey":1,"x":2}],"a":1,"PASSWORD":"p"}');
    expect(one).toBe(lockText('{"a":1,"b":[{"x":2,"token":"t"}]}'));
    expect(one).not.toBe(lockText('{"a":1,"b":[{"x":3}]}'));
  });
});
