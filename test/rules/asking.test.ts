import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../packages/holdfast/src/index.ts";
import { outage } from "./outage.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

/** Hints may be lost: here all of them are. */
function withoutHints(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "onWakeup") return () => () => {};
      return Reflect.get(target, name, target) as unknown;
    },
  });
}

describe.each(STORES)("a worker on %s that gets no hints", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("asks again after its slots were taken for longer than a poll", async () => {
    const { hf } = world.process({ link: withoutHints });
    const end = signal();
    hf.define({ type: "long", run: () => end.reached });
    hf.define({ type: "short", run: () => {} });
    await hf.work({ concurrency: 1 });
    await hf.enqueue("long", null);
    await world.advance(30_000);
    const { id } = await hf.enqueue("short", null);
    end.reach();
    await world.advance(2_000);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded" });
  });

  it("asks again after it had too many outcomes that no store took", async () => {
    const gap = outage();
    const { hf } = world.process({ link: (store) => gap.link(withoutHints(store)) });
    const end = signal();
    hf.define({ type: "work", run: (job) => (job.payload === "late" ? undefined : end.reached) });
    await hf.enqueueAll(Array.from({ length: 1_300 }, () => ({ type: "work", payload: "early" })));
    await hf.work({ concurrency: 1_300, leaseMs: 3_600_000 });
    await world.advance(5_000);
    expect((await hf.counts())["default"]).toMatchObject({ processing: 1_300 });
    gap.mode = "away";
    end.reach();
    await world.advance(10_000);
    gap.mode = "none";
    await world.advance(3_000);
    const { id } = await hf.enqueue("work", "late");
    // The poll of an idle worker stretches to five seconds.
    await world.advance(5_500);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded" });
    expect((await hf.counts())["default"]).toMatchObject({ succeeded: 1_301 });
  });
});
