/** Real processes on one SQLite file, all at once, through the public API. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Holdfast, type LinesView } from "../../packages/holdfast/src/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { inTier } from "../runner/tier.ts";
import { QUEUE, type RaceJob, type RacePayload } from "./orders.ts";
import { Racers } from "./racers.ts";
import { contradictions, mostAtOnce } from "./seen-leases.ts";

const PROCESSES = 8;
const QUEUE_CAP = 6;
const GROUP_CAPS: Readonly<Record<string, number>> = { "": 3, ann: 3, bob: 3, cid: 3, narrow: 1 };
const GROUPS = Object.keys(GROUP_CAPS);
/** How often everybody opens a new file, and asks for a key. */
const OPENINGS = inTier({ daily: 4, full: 20 });
const KEYS = inTier({ daily: 5, full: 50 });
/** A process puts in so many before anybody works, and so many beside. */
const JOBS_BEFORE = inTier({ daily: 30, full: 150 });
const JOBS_BESIDE = inTier({ daily: 20, full: 100 });
const LONG = { timeout: inTier({ daily: 30_000, full: 180_000 }) };
const FIRST_ENDS: readonly RacePayload["first"][] = ["succeed", "succeed", "throw", "snooze"];

describe("processes that race for one SQLite file", LONG, () => {
  let everybody: Racers;
  let folder: string;
  let file: string;

  // Once for all: to start a process takes longer than most of what it does here.
  beforeAll(async () => {
    everybody = await Racers.start(10);
  });
  afterAll(() => everybody?.end());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-races-"));
    file = join(folder, "jobs.db");
    await everybody.all(() => ({ what: "begin", file }));
  });
  afterEach(async () => {
    await everybody.all(() => ({ what: "finish" }));
    await rm(folder, { recursive: true });
  });

  it("ten processes that open a brand-new file at the same moment all succeed", async () => {
    for (let opening = 1; opening <= OPENINGS; opening += 1) {
      const brandNew = join(folder, `jobs-${opening}.db`);
      await everybody.all(() => ({ what: "begin", file: brandNew }));
      const replies = await everybody.all(() => ({ what: "enqueue", jobs: someJobs(1) }));
      expect(replies.flat().map(({ status }) => status)).toEqual(Array(10).fill("added"));
      await everybody.all(() => ({ what: "finish" }));
      await using hf = new Holdfast({ store: sqliteStore({ file: brandNew }) });
      expect((await hf.counts())[QUEUE]).toMatchObject({ ready: 10 });
    }
  });

  it("fifty callers of one key, spread over eight processes, make one job", async () => {
    for (let nth = 1; nth <= KEYS; nth += 1) {
      const idempotencyKey = `key-${nth}`;
      const one = { payload: { turns: 0, first: "succeed" }, options: { idempotencyKey } } as const;
      const replies = await everybody.first(PROCESSES).all((racer) => ({
        what: "enqueue",
        jobs: Array.from({ length: racer < 2 ? 7 : 6 }, () => one),
      }));
      const receipts = replies.flat();
      expect(receipts).toHaveLength(50);
      expect(receipts.filter(({ status }) => status === "added")).toHaveLength(1);
      expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
    }
    await using hf = new Holdfast({ store: sqliteStore({ file }) });
    expect((await hf.counts())[QUEUE]).toMatchObject({ ready: KEYS });
  });

  it("eight processes lease no job twice at once and exceed no cap", async () => {
    await using hf = new Holdfast({ store: sqliteStore({ file }) });
    await hf.limit(QUEUE, { maxActive: QUEUE_CAP, maxActivePerGroup: 3 });
    await hf.limit({ queue: QUEUE, group: "narrow" }, { maxActive: 1 });
    const racers = everybody.first(PROCESSES);
    await racers.all(() => ({ what: "enqueue", jobs: someJobs(JOBS_BEFORE) }));
    await racers.all(() => ({ what: "work", concurrency: 4 }));
    // They also produce while they work.
    let isProducing = true;
    const produced = racers
      .all(() => ({ what: "enqueue", jobs: someJobs(JOBS_BESIDE) }))
      .finally(() => (isProducing = false));
    while (isProducing || (await isBusy(hf))) {
      expectWithinCaps(await hf.lines(QUEUE));
      await pause(3);
    }
    await produced;
    const leases = (await racers.all(() => ({ what: "finish" }))).flat();

    const total = PROCESSES * (JOBS_BEFORE + JOBS_BESIDE);
    expect((await hf.counts())[QUEUE]).toMatchObject({ succeeded: total, dead: 0 });
    expect(new Set(leases.map(({ id }) => id)).size).toBe(total);
    expect(contradictions(leases)).toEqual([]);
    expect(mostAtOnce(leases)).toBeLessThanOrEqual(QUEUE_CAP);
    for (const group of GROUPS) {
      const ofGroup = leases.filter((lease) => lease.group === group);
      expect(mostAtOnce(ofGroup), group).toBeLessThanOrEqual(GROUP_CAPS[group] ?? 0);
    }
    // There was a race: several processes had their part, and jobs ran at once.
    expect(new Set(leases.map(({ worker }) => worker)).size).toBeGreaterThan(1);
    expect(mostAtOnce(leases)).toBeGreaterThan(1);
  });
});

/** Of every group and every kind. */
function someJobs(count: number): RaceJob[] {
  return Array.from({ length: count }, (_, index) => {
    const group = GROUPS[index % GROUPS.length] ?? "";
    const first = FIRST_ENDS[index % FIRST_ENDS.length] ?? "succeed";
    const payload = { turns: index % 7, first };
    return group === "" ? { payload } : { payload, options: { group: group } };
  });
}

async function isBusy(hf: Holdfast): Promise<boolean> {
  const { ready = 0, delayed = 0, processing = 0 } = (await hf.counts())[QUEUE] ?? {};
  return ready + delayed + processing > 0;
}

/** One look is one instant of the store. */
function expectWithinCaps({ queue, lines }: LinesView): void {
  expect(queue?.active).toBeLessThanOrEqual(QUEUE_CAP);
  for (const { group, active } of lines) {
    expect(active, group).toBeLessThanOrEqual(GROUP_CAPS[group] ?? 0);
  }
}
