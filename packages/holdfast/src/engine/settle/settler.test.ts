import { describe, expect, it } from "vitest";
import type { Settlement, SettleResult, Store } from "../../core/store.ts";
import { memoryStore } from "../../stores/memory/index.ts";
import { insertSome } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { systemRuntime } from "../runtime.ts";
import { WatchedStore } from "../watched-store.ts";
import { Settler } from "./settler.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** As a store is in which a caller's open transaction has this job. */
async function settlerWith(count: number) {
  const inner = memoryStore();
  await inner.open();
  await insertSome(inner, count);
  const jobs = await takeExactly(inner, count);
  const locked = new Set<string>();
  const store: Store = {
    ...inner,
    async settle(settlements) {
      const free = settlements.filter(({ id }) => !locked.has(id));
      const answers = await inner.settle(free);
      return settlements.map((one) => answers[free.indexOf(one)] ?? "busy");
    },
  };
  const runtime = systemRuntime();
  const watched = new WatchedStore({ store, runtime, logger, longestGapMs: () => 1_000 });
  const settler = new Settler({ watched, runtime, logger, onAnswered() {}, onOutbox() {} });
  const push = (one: Settlement) =>
    new Promise<SettleResult | undefined>((resolve, reject) => {
      settler.push(one, (error, result) => (error === null ? resolve(result) : reject(error)));
    });
  const settlements = jobs.map((job) => settlement(job, succeed()));
  return { settler, settlements, push, locked, watched, runtime };
}

describe("Settler", () => {
  it("lets no outcome wait for a job that an open transaction has, and brings that one later", async () => {
    const { settler, settlements, push, locked } = await settlerWith(3);
    const [held, beside, after] = settlements as [Settlement, Settlement, Settlement];
    locked.add(held.id);
    const waits = push(held);
    expect(await push(beside)).toBe("settled");
    expect(await push(after)).toBe("settled");
    expect(settler.size).toBe(1);
    expect(settler.isIdle).toBe(false);
    locked.delete(held.id);
    expect(await waits).toBe("settled");
    await settler.idle();
    expect(settler.isIdle).toBe(true);
  });

  it("stays in contact with the store while a transaction has a job", async () => {
    const { settlements, push, locked, watched, runtime } = await settlerWith(2);
    const [held, beside] = settlements as [Settlement, Settlement];
    locked.add(held.id);
    const waits = push(held);
    await push(beside);
    await expect.poll(() => watched.calls.get("settle")?.calls).toBeGreaterThan(3);
    expect(watched.contact.lengthMs(runtime.monotonic())).toBeGreaterThan(0);
    locked.delete(held.id);
    await waits;
  });

  it("gives up what a transaction still has when its process ends", async () => {
    const { settler, settlements, push, locked } = await settlerWith(1);
    const [held] = settlements as [Settlement];
    locked.add(held.id);
    const waits = push(held);
    settler.giveUp();
    await expect(waits).rejects.toThrow(/open transaction/);
    expect(settler.isIdle).toBe(true);
  });
});
