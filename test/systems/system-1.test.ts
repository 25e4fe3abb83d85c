/** What system 1's text says of its queue, by the options that the back office makes of an empty environment. */
import { describe, expect, it } from "vitest";
import { readEnv } from "../../apps/backoffice/src/config/settings.ts";
import { holdfastOptions } from "../../apps/backoffice/src/jobs/holdfast-options.ts";
import { testHoldfast } from "holdfast/testing";

const QUEUE = "ai-cfo-jobs";
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe("the queue of system 1", () => {
  it("keeps the last 1000 jobs that succeeded, and the last 1000 that failed", async () => {
    const { retention } = holdfastOptions(readEnv({}));
    const t = testHoldfast({ logger, patienceMs: 60_000, ...(retention && { retention }) });
    t.hf.define({ type: "ping", queue: QUEUE, run: () => null });
    t.hf.define({
      ...{ type: "fail", queue: QUEUE, retry: { maxAttempts: 1 } },
      run: () => Promise.reject(new Error("no")),
    });
    for (const type of ["ping", "fail"]) {
      const items = Array.from({ length: 1_010 }, (_, n) => ({ type, payload: { n } }));
      await t.hf.enqueueAll(items);
      await t.drain();
    }
    // Whoever works cleans up, too.
    const worker = await t.hf.work({ queues: [QUEUE] });
    await t.advance(2 * 3_600_000);
    await worker.stop();
    for (const status of ["succeeded", "dead"] as const) {
      const numbers: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await t.hf.jobs({
          queue: QUEUE,
          status,
          limit: 200,
          ...(cursor && { cursor }),
        });
        numbers.push(...page.jobs.map(({ payload }) => (payload as { n: number }).n));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      expect(numbers).toHaveLength(1_000);
      expect(Math.min(...numbers), status).toBe(10);
    }
    await t.hf.close();
  });

  it("has its name and its four at once from WORKER_QUEUE_NAME and WORKER_CONCURRENCY", () => {
    expect(readEnv({})).toMatchObject({ queue: QUEUE, concurrency: 4 });
    const other = readEnv({ WORKER_QUEUE_NAME: "books", WORKER_CONCURRENCY: "9" });
    expect(other).toMatchObject({ queue: "books", concurrency: 9 });
    const { work, retention } = holdfastOptions(other);
    expect(work).toMatchObject({ concurrency: 9 });
    expect(Object.keys(retention?.queues ?? {})).toEqual(["books"]);
  });
});
