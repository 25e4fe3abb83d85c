import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { Spool } from "./spool.ts";

async function opened(store = memoryStore()): Promise<Spool> {
  const spool = new Spool(store);
  await spool.open();
  return spool;
}

describe("Spool", () => {
  it("gives back what it was given, oldest first, until it is removed", async () => {
    const spool = await opened();
    const jobs = Array.from({ length: 130 }, () => newJob());
    await spool.add(jobs.slice(0, 70), 1_000);
    await spool.add(jobs.slice(70), 2_000);
    const first = await spool.oldest();
    expect(first.map(({ job }) => job)).toEqual(jobs.slice(0, 100));
    expect(first[99]!.at).toBe(2_000);
    expect(await spool.oldest()).toEqual(first);
    await spool.remove(first);
    expect(spool.size).toBe(30);
    expect((await spool.oldest()).map(({ job }) => job.id)).toEqual(
      jobs.slice(100).map(({ id }) => id),
    );
  });

  it("takes no more than one call can carry, and at least one", async () => {
    const spool = await opened();
    const payload = JSON.stringify("x".repeat(1024 * 1024));
    await spool.add([newJob({ payload }), newJob({ payload }), newJob()], 0);
    expect(await spool.oldest()).toHaveLength(1);
  });

  it("loses nothing to another process that writes to it", async () => {
    const store = memoryStore();
    const [one, two] = [await opened(store), await opened(store)];
    const jobs = Array.from({ length: 6 }, () => newJob());
    await one.add(jobs.slice(0, 3), 0);
    await two.add(jobs.slice(3), 0);
    const third = await opened(store);
    expect(third.size).toBe(6);
    expect((await third.oldest()).map(({ job }) => job.id)).toEqual(jobs.map(({ id }) => id));
    await third.remove(await third.oldest());
    await two.oldest();
    expect(two.size).toBe(0);
  });
});
