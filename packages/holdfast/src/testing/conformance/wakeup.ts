/**
 * Wakeups are hints, and a lost one costs latency only. Still, on a store at rest, whatever makes a
 * job ready or ends one reaches those who listen: a channel that is broken would make every worker poll.
 */
import assert from "node:assert/strict";
import { LONGEST_POLL_MS } from "../../core/line.ts";
import type { Store, Wakeup } from "../../core/store.ts";
import { insertOne, insertSome, QUEUE } from "./new-job.ts";
import type { Given } from "./scenario.ts";
import { chapter } from "./scenario.ts";
import { cancelled, die, retry, settle, succeed } from "./settling.ts";
import { takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

const NOBODY = { reason: null, by: null };

const WAKEUP_DEADLINE_MS = 5_000;

/** Resolves with the first wakeup that fits; `then` does what should wake us. */
async function wokenBy(
  listener: Store,
  fits: (wakeup: Wakeup) => boolean,
  then: () => Promise<unknown>,
): Promise<void> {
  let woken = (): void => undefined;
  const stop = listener.onWakeup((wakeup) => {
    if (fits(wakeup)) woken();
  });
  let deadline: NodeJS.Timeout | undefined;
  const wakeup = new Promise<void>((resolve, reject) => {
    woken = resolve;
    deadline = setTimeout(reject, WAKEUP_DEADLINE_MS, new Error("a wakeup arrives"));
  });
  try {
    await Promise.all([wakeup, then()]);
  } finally {
    clearTimeout(deadline);
    stop();
  }
}

/** Wakes a caller that has just found nothing, so that a store which hints only to the hungry does. */
async function queueWokenBy(store: Store, then: () => Promise<unknown>): Promise<void> {
  await wokenBy(
    store,
    (wakeup) => wakeup.queues.includes(QUEUE),
    async () => {
      await takeNothing(store);
      await then();
    },
  );
}

async function listeningElsewhere({ store, another }: Given): Promise<Store> {
  return store.info().wakeups === "processes" ? another() : store;
}

export const wakeup = chapter("wakeup", {
  "an insert wakes those who listen": async ({ store }) => {
    await queueWokenBy(store, () => insertOne(store));
  },

  "the end of a job wakes those who listen": async ({ store }) => {
    for (const outcome of [succeed(), die(), cancelled()]) {
      const job = await insertOne(store);
      const leased = await takeOne(store);
      await wokenBy(
        store,
        ({ finished }) => finished.includes(job.id),
        () => settle(store, leased, outcome),
      );
    }
  },

  "the end of a job that is not kept wakes those who listen": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await wokenBy(
      store,
      ({ finished }) => finished.includes(job.id),
      () => settle(store, leased, succeed(), { discard: true }),
    );
  },

  "the cancellation of a waiting job wakes those who wait for its end": async ({ store }) => {
    const job = await insertOne(store);
    await wokenBy(
      store,
      ({ finished }) => finished.includes(job.id),
      () => store.cancel({ ids: [{ id: job.id }] }, NOBODY),
    );
  },

  "an insert wakes those who listen through another Store object": async (given) => {
    const other = await listeningElsewhere(given);
    await queueWokenBy(other, () => insertOne(given.store));
  },

  "the end of a job wakes those who listen through another Store object": async (given) => {
    const other = await listeningElsewhere(given);
    const job = await insertOne(given.store);
    const leased = await takeOne(given.store);
    await wokenBy(
      other,
      ({ finished }) => finished.includes(job.id),
      () => settle(given.store, leased, succeed()),
    );
  },

  "a job that comes back at once wakes those who listen": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await queueWokenBy(store, () => settle(store, leased, retry()));
    await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await queueWokenBy(store, () => store.reap({ limit: 1 }));
    await store.cancel({ ids: [{ id: job.id }] }, NOBODY);
    const revival = { delayMs: 0, runAt: null, attempts: 1 };
    await queueWokenBy(store, () => store.revive({ ids: [{ id: job.id }] }, revival, NOBODY));
  },

  "an insert wakes those who took all that there was, and asked for no more": async (given) => {
    const other = await listeningElsewhere(given);
    for (let round = 0; round < 3; round++) {
      await insertOne(given.store);
      await takeOne(other);
      await wokenBy(
        other,
        ({ queues }) => queues.includes(QUEUE),
        () => insertOne(given.store),
      );
      await takeOne(other);
    }
  },

  "a job that is due before an idle worker polls again wakes those who listen": async ({
    store,
  }) => {
    const delayMs = LONGEST_POLL_MS - 500;
    await queueWokenBy(store, () => insertOne(store, { delayMs }));
    await insertOne(store);
    const leased = await takeOne(store);
    await queueWokenBy(store, () => settle(store, leased, retry(delayMs)));
  },

  "a delayed job that is to run now wakes those who listen": async ({ store }) => {
    const job = await insertOne(store, { delayMs: LONG_MS });
    const now = { delayMs: 0, runAt: null };
    await queueWokenBy(store, () => store.reschedule({ ids: [{ id: job.id }] }, now, NOBODY));
  },

  "the release of a hold wakes those who listen": async ({ store }) => {
    const change = { queue: QUEUE, group: "a", owner: "pause" };
    await store.hold([{ ...change, hold: { forMs: null, reason: "closed", by: null } }]);
    await insertOne(store, { group: "a" });
    await queueWokenBy(store, () => store.hold([{ ...change, hold: null }]));
  },

  "room in a full line wakes those who listen": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]);
    await insertSome(store, 3, { group: "a" });
    const leased = await takeOne(store);
    await queueWokenBy(store, () => settle(store, leased, succeed()));
    await takeOne(store);
    const raised = [{ queue: QUEUE, group: "a", maxActive: 2 }];
    await queueWokenBy(store, () => store.limit(raised));
  },

  "who stopped listening is left alone": async ({ store }) => {
    let heard = 0;
    const stop = store.onWakeup(() => {
      heard++;
    });
    stop();
    stop();
    await queueWokenBy(store, () => insertOne(store));
    assert.equal(heard, 0);
  },
});
