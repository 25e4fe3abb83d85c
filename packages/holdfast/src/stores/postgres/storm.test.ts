/**
 * Everybody does everything at once, on few keys and few lines. No deadlock shows, no count goes
 * wrong, and every job stands in exactly one place afterwards (the schema is checked when emptied).
 */
import assert from "node:assert/strict";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier } from "../../../../../test/runner/tier.ts";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { seededRandom } from "../../testing/seeded-random.ts";
import { findAll } from "../../testing/conformance/looking.ts";
import { key, newJob } from "../../testing/conformance/new-job.ts";
import {
  die,
  leaseRef,
  retry,
  settlement,
  snooze,
  succeed,
} from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { postgresStore } from "./index.ts";

const CALLERS = 8;
const ROUNDS = inTier({ daily: 20, full: 100 });
const MOST_TRIES = 5;
const QUEUES = ["a", "b"];
const LIFETIMES = ["kept", "until-finished", { ttlMs: 20 }] as const;

let place: PostgresSchema;
beforeAll(async () => void (place = await postgresSchema()));
afterAll(() => place.drop());

/** As the engine does: on a busy machine a key may be somebody's for longer than a settle waits for it. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || tries === MOST_TRIES) throw error;
    }
  }
}

/** One caller's day. `random` is below 1. */
async function live(store: Store, random: () => number): Promise<void> {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const why = { reason: null, by: "storm" };
  const someJob = () =>
    newJob({
      queue: pick(QUEUES),
      group: pick(["", "x", "y"]),
      delayMs: pick([0, 0, 5]),
      dedupe: random() < 0.5 ? key(`k${Math.floor(random() * 20)}`, pick(LIFETIMES)) : null,
    });
  const someJobs = () => Array.from({ length: 1 + Math.floor(random() * 8) }, someJob);
  for (let round = 0; round < ROUNDS; round++) {
    await store.insert(someJobs());
    const leaseMs = pick([1, 60_000]);
    const { jobs } = await store.lease({ ...leaseRequest(6, { queues: QUEUES }), leaseMs });
    await store.renew(jobs.map(leaseRef), leaseMs);
    const settlements = jobs.map((job) =>
      settlement(job, pick([succeed(), succeed(), retry(0), snooze(5), die()]), {
        discard: random() < 0.3,
        spawn: random() < 0.3 ? someJobs() : [],
        updates: random() < 0.3 ? { logs: ["a"], steps: [{ name: "s", value: "1" }] } : {},
      }),
    );
    await patiently(() => store.settle(settlements));
    switch (Math.floor(random() * 8)) {
      case 0:
        await store.reap({ limit: 20 });
        break;
      case 1:
        await store.prune([{ queue: null, status: "succeeded", olderThanMs: 0, keep: 3 }], 10);
        break;
      case 2:
        await store.cancel({ ids: jobs.map(({ id }) => ({ id })) }, why);
        break;
      case 3: {
        const filter = { status: ["dead" as const], queue: pick(QUEUES) };
        const target = { filter, frozenAt: await store.now(), limit: 10 };
        await store.revive(target, { delayMs: 0, runAt: null, attempts: 1 }, why);
        break;
      }
      case 4: {
        const target = {
          filter: { group: pick(["x", "y"]) },
          frozenAt: await store.now(),
          limit: 5,
        };
        await store.remove(target, why);
        break;
      }
      case 5:
        await store.limit([{ queue: pick(QUEUES), group: "x", maxActive: pick([null, 2]) }]);
        break;
      case 6: {
        const hold = random() < 0.5 ? null : { forMs: 5, reason: "storm", by: null };
        await store.hold([{ queue: pick(QUEUES), group: pick([null, "y"]), owner: "o", hold }]);
        break;
      }
      default:
        await store.records.swap(
          ["p", "q", "r"].map((name) => ({ key: name, expect: null, value: "1", ttlMs: 1 })),
        );
    }
  }
}

describe("a storm of callers", () => {
  it("meets no deadlock, loses no count and misplaces no job", { timeout: 180_000 }, async () => {
    const stores = Array.from({ length: 3 }, () =>
      postgresStore({ pool: place.pool, schema: place.schema }),
    );
    await Promise.all(stores.map((store) => store.open()));
    const callers = Array.from({ length: CALLERS }, (_, caller) => {
      const store = stores[caller % stores.length];
      assert.ok(store);
      return live(store, seededRandom(caller + 1));
    });
    await Promise.all(callers);
    const [store] = stores;
    assert.ok(store);
    const counts = await store.count();
    const counted = counts.reduce(
      (sum, { queue: _, retrying: __, oldestReadyAt: ___, ...numbers }) =>
        sum + Object.values(numbers).reduce((a, b) => a + b),
      0,
    );
    assert.equal(counted, (await findAll(store, {}, { limit: 200 })).length);
    await Promise.all(stores.map((one) => one.close()));
    await place.clear();
  });
});
