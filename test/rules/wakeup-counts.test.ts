/** What stores on servers tell other processes of jobs that come back: how many, so that few come for few. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store, Wakeup } from "../../packages/holdfast/src/core/store.ts";
import { insertOne, QUEUE } from "../../packages/holdfast/src/testing/conformance/new-job.ts";
import {
  release,
  retry,
  settle,
} from "../../packages/holdfast/src/testing/conformance/settling.ts";
import { takeNothing, takeOne } from "../../packages/holdfast/src/testing/conformance/take.ts";
import { PLACES, type Place } from "./places.ts";

describe.each(["postgres", "redis", "mongodb"] as const)("wakeups of %s", (name) => {
  let place: Place;
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    const at = Date.now();
    place = await PLACES[name](() => at);
    [store, other] = [place.open(), place.open()];
    await store.open();
    await other.open();
  });
  afterEach(async () => {
    await store.close();
    await other.close();
    await place.dispose();
  });

  /** What the other process hears of the queue. */
  async function heardOf(act: () => Promise<unknown>): Promise<Wakeup> {
    const { promise, resolve } = Promise.withResolvers<Wakeup>();
    const stop = other.onWakeup((wakeup) => {
      if (wakeup.queues.includes(QUEUE)) resolve(wakeup);
    });
    // Some tell only those who have found nothing.
    await takeNothing(other);
    await act();
    const wakeup = await promise;
    stop();
    return wakeup;
  }

  it("count a job that is tried again, and leave one that is handed back to everybody", async () => {
    await heardOf(() => insertOne(store));
    const leased = await takeOne(store);
    const retried = await heardOf(() => settle(store, leased, retry()));
    expect(retried).toMatchObject({ added: 1, lot: expect.any(Number) as number });
    const again = await takeOne(store);
    const handedBack = await heardOf(() => settle(store, again, release()));
    expect(handedBack).not.toHaveProperty("added");
  });
});
