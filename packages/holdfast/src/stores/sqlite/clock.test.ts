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

class Host {
  now: number;

  constructor(now: number) {
    this.now = now;
  }

  readonly read = (): number => this.now;
}

describe("the clock", () => {
  it("stands still while the host's clock is a moment behind", () => {
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
    assert.equal(clock.micros({ clock: 9_000, anchor: null }), 9_000);
    assert.equal(clock.micros(), 9_000);
  });

  it("that is far ahead of its host goes on at nine tenths of the pace until both meet", () => {
    const host = new Host(100_000);
    const clock = new Clock(host.read);
    assert.equal(msOf(clock.micros()), 100_000);
    host.now -= 10_000;
    assert.equal(msOf(clock.micros()), 100_000);
    host.now += 1_000;
    assert.equal(msOf(clock.micros()), 100_900);
    host.now += 8_000;
    assert.equal(msOf(clock.micros()), 108_100);
    assert.notEqual(clock.anchor, null);
    host.now += 50_000;
    assert.equal(msOf(clock.micros()), host.now);
    assert.equal(clock.anchor, null);
    host.now += 1_000;
    assert.equal(msOf(clock.micros()), host.now);
  });

  it("that is set back again while it is ahead goes on from where it is", () => {
    const host = new Host(100_000);
    const clock = new Clock(host.read);
    clock.micros();
    host.now -= 10_000;
    clock.micros();
    host.now += 5_000;
    assert.equal(msOf(clock.micros()), 104_500);
    host.now -= 60_000;
    assert.equal(msOf(clock.micros()), 104_500);
    host.now += 10_000;
    assert.equal(msOf(clock.micros()), 113_500);
  });

  it("never runs backwards, whatever its host's clock does", () => {
    const host = new Host(1_000_000);
    const clock = new Clock(host.read);
    let last = 0;
    for (const step of [0, -5_000, 10, -900, 400, 20_000, -80_000, 3, 7, -1, 90_000, -1_001, 50]) {
      host.now += step;
      const read = clock.micros();
      assert.ok(read >= last, `a step of ${step}`);
      last = read;
    }
  });

  it("goes by the anchor that another process has set", () => {
    const host = new Host(90_000);
    const clock = new Clock(host.read);
    const anchor = { mark: 100_000_000, wall: 80_000_000 };
    assert.equal(msOf(clock.micros({ clock: anchor.mark, anchor })), 109_000);
    // It was set back since then, and nobody has written that yet.
    host.now -= 30_000;
    const known = { clock: 109_000_000, anchor };
    assert.equal(msOf(clock.micros(known)), 109_000);
    host.now += 10_000;
    assert.equal(msOf(clock.micros(known)), 118_000);
  });

  it("of a host that is an hour off does not drive the others", () => {
    const [fast, slow] = [new Host(HOUR_MS), new Host(0)];
    const [ahead, behind] = [new Clock(fast.read), new Clock(slow.read)];
    let seen = { clock: ahead.micros(), anchor: ahead.anchor };
    for (let second = 1; second <= 100; second++) {
      for (const host of [fast, slow]) host.now += 1_000;
      for (const clock of [behind, ahead]) {
        seen = { clock: clock.micros(seen), anchor: clock.anchor };
      }
    }
    assert.equal(msOf(seen.clock), fast.now);
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

  it("is not waited for: delayed jobs fall due and leases run out, also in another process", async () => {
    const host = new Host(Date.UTC(2031, 0, 1) + HOUR_MS);
    const store = await openAt(host.read);
    await store.insert([newJob()]);
    host.now -= HOUR_MS;
    const delayed = newJob({ delayMs: 5_000 });
    await store.insert([delayed]);
    const lost = await store.lease(leaseRequest(1, { leaseMs: 5_000 }));
    assert.equal(lost.jobs.length, 1);
    host.now += 5_000;
    assert.deepEqual(await store.reap({ limit: 1 }), []);
    assert.deepEqual((await store.lease(leaseRequest(1))).jobs, []);
    const other = await openAt(host.read);
    host.now += 1_000;
    assert.equal(await other.now(), await store.now());
    assert.equal((await other.reap({ limit: 1 }))[0]?.id, lost.jobs[0]?.id);
    assert.equal((await store.lease(leaseRequest(2))).jobs.length, 2);
    await store.close();
    await other.close();
  });

  it("ends up right, and what a closed store noted of it is read again", async () => {
    const host = new Host(Date.UTC(2031, 0, 1) + HOUR_MS);
    const before = await openAt(host.read);
    await before.insert([newJob()]);
    host.now -= HOUR_MS;
    await before.insert([newJob()]);
    const at = await before.now();
    await before.close();
    host.now += HOUR_MS / 2;
    const after = await openAt(host.read);
    assert.equal(await after.now(), at + 0.45 * HOUR_MS);
    host.now += HOUR_MS;
    assert.equal(await after.now(), host.now);
    await after.insert([newJob()]);
    await after.close();
    host.now += 1;
    const last = await openAt(host.read);
    assert.equal(await last.now(), host.now);
    await last.close();
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
