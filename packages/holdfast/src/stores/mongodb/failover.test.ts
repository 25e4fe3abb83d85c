/**
 * Three nodes, and the primary is killed while jobs are inserted, leased and settled. What was
 * acknowledged is there afterwards, nothing is there twice, and work goes on by itself.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startReplicaSet, type ReplicaSet } from "../../../../../test/servers/mongodb.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { mongodbStore } from "./index.ts";

const BATCHES = 60;
const BATCH = 5;
const LEASE_MS = 3_000;
const TEST_MS = 120_000;

let servers: ReplicaSet;
let store: Store;

beforeAll(async () => {
  servers = await startReplicaSet({ nodes: 3 });
  store = mongodbStore({ url: servers.url });
  await store.open();
}, TEST_MS);
afterAll(async () => {
  await store.close();
  await servers.stop();
});

/** As the engine does: a call that may or may not have happened is made again. */
async function atLast<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }
}

describe("the loss of the primary", () => {
  it(
    "loses nothing that was acknowledged, doubles nothing, and heals by itself",
    async () => {
      expect(store.info().survives.failover).toBe(true);
      const inserted: string[] = [];
      const settled = new Map<string, string>();
      let isKilled = false;
      const produce = async (): Promise<void> => {
        for (let batch = 0; batch < BATCHES; batch++) {
          const jobs = newJobs(BATCH, { maxAttempts: 50 });
          await atLast(() => store.insert(jobs));
          inserted.push(...jobs.map(({ id }) => id));
          if (batch !== BATCHES / 2) continue;
          await servers.killPrimary();
          isKilled = true;
        }
      };
      const end = async (job: LeasedJob, worker: string): Promise<void> => {
        const result = JSON.stringify(`${worker}:${job.fence}`);
        const ended = settlement(job, succeed(result));
        const [answer] = await atLast(() => store.settle([ended]));
        if (answer !== "settled") return;
        expect(settled.has(job.id), "no job is settled twice").toBe(false);
        settled.set(job.id, result);
      };
      const consume = async (worker: string): Promise<void> => {
        while (settled.size < BATCHES * BATCH) {
          const request = leaseRequest(4, { worker, leaseMs: LEASE_MS });
          const { jobs } = await atLast(() => store.lease(request));
          for (const job of jobs) await end(job, worker);
          if (jobs.length === 0) await atLast(() => store.reap({ limit: 100 }));
        }
      };
      await Promise.all([produce(), consume("a"), consume("b"), consume("c")]);
      expect(isKilled).toBe(true);
      expect(settled.size).toBe(inserted.length);
      for (const id of inserted) {
        const [job] = await store.get([{ id, queue: QUEUE }]);
        expect(job).toMatchObject({ status: "succeeded", result: settled.get(id) });
      }
      await servers.resume();
    },
    TEST_MS,
  );
});
