/** System 4, step 1: jobs of a killed process; and the order of a record past a kill. On virtual time. */
import { describe, expect, it } from "vitest";
import { defineSync } from "@holdfast/crm";
import { z } from "zod";
import { openWorld, STORES, type Process } from "../rules/world.ts";

const payload = z.object({ id: z.string(), value: z.string() });

/** The other side: what was written, in its order, and a write that never comes back. */
function target() {
  const writes: string[] = [];
  let hangs = 0;
  let loads = 0;
  const sync = defineSync({
    name: "desk",
    client: () => ({}),
    retry: { maxAttempts: 6, baseMs: 120_000, factor: 2, maxMs: 3_600_000, jitter: 0 },
    operations: {
      write: {
        payload,
        record: ({ id }) => id,
        load: async () => {
          loads += 1;
          return {
            run: ({ payload: given }) => {
              writes.push(given.value);
              return hangs-- > 0 ? new Promise(() => {}) : Promise.resolve();
            },
          };
        },
      },
    },
  });
  return { sync, writes, hang: (times: number) => void (hangs = times), loads: () => loads };
}

describe.each(STORES)("a killed process on %s", (store) => {
  it("costs seconds, not 10 minutes and 5: its job runs again, one attempt charged", async () => {
    const world = await openWorld(store);
    const { sync, writes, hang } = target();
    const start = async (process: Process) => {
      const crm = sync.attach(process.hf);
      await crm.work();
      return crm;
    };
    const [first, second] = [world.process(), world.process()];
    const crm = await start(first);
    hang(1);
    const { id } = await crm.enqueue("write", { id: "7", value: "a" });
    await world.until(() => writes.length === 1);
    await start(second);
    first.kill();
    const killedAt = world.time.now;
    const isDone = async () => (await second.hf.job(id))?.status === "succeeded";
    while (!(await isDone())) await world.advance(500);
    expect(world.time.now - killedAt).toBeLessThanOrEqual(13_000);
    expect(await second.hf.job(id)).toMatchObject({ attempts: 2, crashes: 1 });
    await world.close();
  });

  it("that had written and not settled writes again before its followers, not after them", async () => {
    const world = await openWorld(store);
    const { sync, writes, hang } = target();
    const [first, second] = [world.process(), world.process()];
    const crm = sync.attach(first.hf);
    await crm.work();
    hang(1);
    await crm.enqueue("write", { id: "7", value: "old" });
    await world.until(() => writes.length === 1);
    const { id } = await crm.enqueue("write", { id: "7", value: "new" }, { priority: 1 });
    await crm.enqueue("write", { id: "8", value: "other" });
    await world.until(() => writes.includes("other"));
    first.kill();
    await sync.attach(second.hf).work();
    const isDone = async () => (await second.hf.job(id))?.status === "succeeded";
    while (!(await isDone())) await world.advance(500);
    expect(writes.filter((value) => value !== "other")).toEqual(["old", "old", "new"]);
    expect(await second.hf.job(id)).toMatchObject({ attempts: 1, crashes: 0 });
    await world.close();
  });

  it("loads a handler when its first job needs it, and once", async () => {
    const world = await openWorld(store);
    const { sync, writes, loads } = target();
    const { hf } = world.process();
    const crm = sync.attach(hf);
    await crm.work();
    expect(loads()).toBe(0);
    await crm.enqueue("write", { id: "1", value: "a" });
    await crm.enqueue("write", { id: "2", value: "b" });
    await world.until(() => writes.length === 2);
    expect(loads()).toBe(1);
    await world.close();
  });
});
