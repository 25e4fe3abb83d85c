import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Store } from "../../core/store.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { Clock, instantAfter, msOf } from "./clock.ts";
import { sqliteStore } from "./index.ts";

const HOUR_MS = 3_600_000;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-clock-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function openAt(now: () => number): Promise<Store> {
  const store = sqliteStore({ file: join(folder, "jobs.db"), now });
  await store.open();
  return store;
}

describe("the clock", () => {
  it("stands still while the host's clock is behind", () => {
    let host = 1_000;
    const clock = new Clock(() => host);
    assert.equal(msOf(clock.micros()), 1_000);
    host = 400;
    assert.equal(msOf(clock.micros()), 1_000);
    host = 1_001;
    assert.equal(msOf(clock.micros()), 1_001);
  });

  it("follows what other processes have seen", () => {
    const clock = new Clock(() => 5);
    assert.equal(clock.micros(9_000), 9_000);
    assert.equal(clock.micros(), 9_000);
  });

  it("never undercuts a wait", () => {
    assert.deepEqual([instantAfter(10, 0.2), instantAfter(10, -5)], [11, 10]);
  });
});

describe("a host whose clock was set back", () => {
  it("while the store was closed, finds the store where it was", async () => {
    let host = Date.UTC(2031, 0, 1);
    const before = await openAt(() => host);
    await before.insert([newJob({ delayMs: 500 })]);
    await before.lease(leaseRequest(1));
    host += 1_000;
    const [leased] = (await before.lease(leaseRequest(1))).jobs;
    assert.ok(leased);
    await before.close();

    host -= HOUR_MS;
    const after = await openAt(() => host);
    assert.ok((await after.now()) >= Date.UTC(2031, 0, 1) + 1_000);
    await after.insert([newJob()]);
    const [next] = (await after.lease(leaseRequest(1))).jobs;
    assert.ok(next && next.fence >= leased.fence);
    await after.close();
  });

  it("in one process, does not turn back another's", async () => {
    let [one, two] = [Date.UTC(2031, 0, 1), Date.UTC(2031, 0, 1) - HOUR_MS];
    const [ahead, behind] = [await openAt(() => one), await openAt(() => two)];
    await ahead.insert([newJob()]);
    const { jobs } = await behind.lease(leaseRequest(1));
    assert.equal(jobs.length, 1);
    assert.ok((await behind.now()) >= one);
    one += 5;
    two += 5;
    assert.ok((await ahead.now()) >= one);
    await ahead.close();
    await behind.close();
  });
});
