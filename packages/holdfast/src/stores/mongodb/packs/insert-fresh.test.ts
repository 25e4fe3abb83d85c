/** Which new jobs wait among the fresh ones, in which documents, and what happens if they cannot. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { intercepted, mongodbWorld } from "../../../../../../test/servers/mongodb-world.ts";
import type { NewJob } from "../../../core/job.ts";
import type { Store } from "../../../core/store.ts";
import { uuidV7 } from "../../../core/uuid.ts";
import { countsOf, jobOf } from "../../../testing/conformance/looking.ts";
import { newJob, QUEUE } from "../../../testing/conformance/new-job.ts";
import { takeExactly } from "../../../testing/conformance/take.ts";
import { isPlain } from "./insert-fresh.ts";
import { MOST_IN_PACK } from "./packs.ts";

const KEY = { key: "k", hash: "h", lifetime: "kept" } as const;
const NEW = { areNew: true } as const;

const world = mongodbWorld();

/** Jobs whose ids are of one moment: else they may not share a document. */
function together(...each: readonly Partial<NewJob>[]): NewJob[] {
  const now = Date.now();
  return each.map((own) => newJob({ id: uuidV7(now, randomBytes(10)), ...own }));
}

/** How many jobs share each document that waits. */
async function sizes(): Promise<unknown[]> {
  return (await world.documents("fresh")).map(({ n }) => n);
}

async function outcomes(store: Store, jobs: readonly NewJob[]): Promise<string[]> {
  return (await store.insert(jobs, NEW)).map(({ outcome }) => outcome);
}

function added(count: number): string[] {
  return Array<string>(count).fill("added");
}

describe("a new job", () => {
  it("is plain unless it is delayed, has a key, is large or may not run", () => {
    const payload = JSON.stringify("x".repeat(5_000));
    expect(isPlain(newJob())).toBe(true);
    expect(isPlain(newJob({ group: "g", tags: ["t"], priority: 3 }))).toBe(true);
    for (const not of [
      { delayMs: 5 },
      { runAt: 5 },
      { dedupe: KEY },
      { maxAttempts: 0 },
      { payload },
    ]) {
      expect(isPlain(newJob(not))).toBe(false);
    }
  });
});

describe("plain jobs of one call", () => {
  it("share documents, as many as fit", async () => {
    const jobs = together(...Array.from({ length: MOST_IN_PACK + 3 }, () => ({})));
    await world.store.insert(jobs, NEW);
    expect(await sizes()).toEqual([MOST_IN_PACK, 3]);
  });

  it("share documents up to a size", async () => {
    const payload = JSON.stringify("x".repeat(4_000));
    await world.store.insert(together(...Array.from({ length: 10 }, () => ({ payload }))), NEW);
    expect(await sizes()).toEqual([8, 2]);
  });

  it("share one with their neighbours in line only", async () => {
    const own = [
      { type: "b" },
      { group: "g" },
      { priority: 9 },
      { maxAttempts: 7 },
      { queue: "b" },
    ];
    await world.store.insert(together({}, {}, ...own, {}, {}), NEW);
    expect(await sizes()).toEqual([2, 1, 1, 1, 1, 1, 2]);
  });

  it("keep what is each one's own", async () => {
    const own = [{ tags: ["a", "b"] }, { meta: '{"m":1}' }, { trace: "t" }, {}];
    const jobs = together(...own);
    await world.store.insert(jobs, NEW);
    expect(await sizes()).toEqual([4]);
    for (const job of jobs) {
      const { tags, meta } = job;
      expect(await jobOf(world.store, job)).toMatchObject({ tags, meta });
    }
    expect((await takeExactly(world.store, 4)).map(({ trace }) => trace)).toEqual([
      null,
      null,
      "t",
      null,
    ]);
  });

  it("wait there also if others of the call do not", async () => {
    const jobs = together({}, {}, { dedupe: KEY }, {}, { delayMs: 60_000 });
    expect(await outcomes(world.store, jobs)).toEqual(added(5));
    expect(await sizes()).toEqual([2, 1]);
    expect(await outcomes(world.store, together({}, { dedupe: KEY }))).toEqual([
      "added",
      "duplicate",
    ]);
    expect(await countsOf(world.store)).toMatchObject({ ready: 5, delayed: 1 });
  });
});

describe("plain jobs in a bounded queue", () => {
  it("wait there as long as there is room", async () => {
    await world.store.limit([{ queue: QUEUE, group: null, maxWaiting: 3 }]);
    const jobs = together({}, {}, { queue: "other" }, {}, {}, { queue: "other" });
    expect(await outcomes(world.store, jobs)).toEqual([...added(4), "full", "added"]);
    expect(await sizes()).toEqual([2, 1, 1, 1]);
  });

  it("take room in their turn if others of the call do not need it", async () => {
    await world.store.limit([{ queue: QUEUE, group: null, maxWaiting: 2 }]);
    expect(await outcomes(world.store, together({ dedupe: KEY }))).toEqual(["added"]);
    const jobs = together({ dedupe: KEY }, { delayMs: 5 }, {});
    expect(await outcomes(world.store, jobs)).toEqual(["duplicate", "added", "full"]);
  });
});

describe("an insert whose reply got lost", () => {
  it("is sent again, and makes one job of each", async () => {
    const db = intercepted(world.database, async ({ verb, collection }, run) => {
      if (verb === "insert" && collection === "fresh") await run();
      return run();
    });
    const store = await world.process(db);
    const jobs = together({}, {}, { dedupe: KEY }, { group: "g" });
    expect(await outcomes(store, jobs)).toEqual(added(4));
    await store.close();
    expect(await countsOf(world.store)).toMatchObject({ ready: 4 });
    await takeExactly(world.store, 4);
    expect(await sizes()).toEqual([]);
  });
});
