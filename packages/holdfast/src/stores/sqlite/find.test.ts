/** How much a look costs: what the conformance suite cannot see. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { JobFilter, JobPage, Store } from "../../core/store.ts";
import { adoptedJob, idsOf, newJob } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";

let store: Store;

beforeEach(async () => {
  store = sqliteStore({ file: ":memory:" });
  await store.open();
});
afterEach(() => store.close());

/** Jobs that succeeded, many times what one call looks at. */
async function addFinished(count: number): Promise<void> {
  for (let added = 0; added < count; added += 200) {
    const jobs = Array.from({ length: 200 }, () =>
      adoptedJob({ status: "succeeded", finishedAt: 5 }),
    );
    await store.adopt(jobs);
  }
}

async function firstPage(filter: JobFilter): Promise<JobPage> {
  return store.find(filter, { limit: 10 });
}

describe("a look at many jobs", () => {
  it("for what is not there ends in steps, each with a cursor but the last", async () => {
    await addFinished(12_000);
    let page = await firstPage({ worker: "unheard-of" });
    let steps = 1;
    for (; page.nextCursor !== null; steps++) {
      assert.deepEqual(page.jobs, []);
      page = await store.find({ worker: "unheard-of" }, { limit: 10, cursor: page.nextCursor });
    }
    assert.equal(steps, 2);
  });

  it("finds a few waiting, running, dead or cancelled ones at once", async () => {
    const [dead, cancelled, waiting] = [
      adoptedJob({ status: "dead", finishedAt: 5 }),
      adoptedJob({ status: "cancelled", finishedAt: 5 }),
      newJob({ priority: 8191, delayMs: 60_000 }),
    ];
    await store.adopt([dead, cancelled]);
    await store.insert([waiting, newJob()]);
    const [running] = (await store.lease(leaseRequest(1))).jobs;
    assert.ok(running);
    await addFinished(6_000);
    for (const [filter, expected] of [
      [{ status: ["dead"] }, [dead]],
      [{ status: ["cancelled", "dead"] }, [cancelled, dead]],
      [{ status: ["queued"] }, [waiting]],
      [{ status: ["processing"] }, [running]],
      [{ status: ["processing", "dead", "queued"] }, [running, waiting, dead]],
      [{ delayed: true }, [waiting]],
      [{ status: ["dead"], queue: "mail", type: "email.send" }, [dead]],
    ] as const) {
      const { jobs, nextCursor } = await firstPage(filter);
      assert.deepEqual([idsOf(jobs), nextCursor], [idsOf(expected), null], JSON.stringify(filter));
    }
  });

  it("without a filter reads no more than a page", async () => {
    await addFinished(3_000);
    const { jobs, nextCursor } = await firstPage({});
    assert.equal(jobs.length, 10);
    assert.notEqual(nextCursor, null);
  });
});
