/** Since when jobs wait, asked in every way a job can come to be ready; the suite asks for a few. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { LeasedJob, Store } from "../../core/store.ts";
import { adoptedJob, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { die, release, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";

let now: number;
let store: Store;

beforeEach(async () => {
  now = Date.UTC(2031, 0, 1);
  store = sqliteStore({ file: ":memory:", now: () => now });
  await store.open();
});
afterEach(() => store.close());

/** What the jobs themselves say. */
async function recounted(): Promise<{ oldestReadyAt: number | null; retrying: number }> {
  const { jobs: ready } = await store.find({ delayed: false }, { limit: 1_000 });
  const { jobs: queued } = await store.find({ status: ["queued"] }, { limit: 1_000 });
  const since = ready.map(({ runAt }) => runAt);
  return {
    oldestReadyAt: since.length === 0 ? null : Math.min(...since),
    retrying: queued.filter(({ attempts }) => attempts > 0).length,
  };
}

/** The same numbers every time. */
function* numbers(): Generator<number, never> {
  for (let seed = 7; ;) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield seed >>> 8;
  }
}

describe("the count of a queue", () => {
  it("agrees with its jobs after every step, whatever happens to them", async () => {
    const chance = numbers();
    const upTo = (most: number): number => chance.next().value % most;
    let held: LeasedJob[] = [];
    for (let step = 0; step < 150; step++) {
      now += upTo(40);
      const job = { priority: upTo(3), group: ["", "a", "b"][upTo(3)] ?? "", maxAttempts: 99 };
      const deed = upTo(8);
      if (deed < 2) await store.insert([newJob(job), newJob({ ...job, delayMs: upTo(100) })]);
      if (deed === 2) await store.adopt([adoptedJob({ ...job, runAt: now - upTo(500) })]);
      if (deed === 3) held.push(...(await store.lease(leaseRequest(3, { leaseMs: 60 }))).jobs);
      if (deed === 4) await store.reap({ limit: 5 });
      if (deed > 4) {
        const outcomes = [retry(upTo(60)), release(0), succeed(), die(), retry(0)];
        const outcome = outcomes[upTo(5)] ?? succeed();
        await store.settle(held.slice(0, 2).map((one) => settlement(one, outcome)));
        held = held.slice(2);
      }
      const [counts] = await store.count();
      if (counts === undefined) continue;
      const { oldestReadyAt, retrying } = counts;
      assert.deepEqual({ oldestReadyAt, retrying }, await recounted(), `step ${step}`);
    }
    const [counts] = await store.count();
    assert.ok(counts && counts.queue === QUEUE && counts.retrying > 0);
  });
});
