/** One of the processes that race for a file. It says when it is up, and then does as it is told. */
import { Holdfast, type RunningJob } from "../../packages/holdfast/src/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { QUEUE, TYPE } from "./orders.ts";
import type { Answers, Order, RacePayload, Reply, SeenLease } from "./orders.ts";
import { watchedStore } from "./watched-store.ts";

/** Longer than the test: a lease that ran out would excuse what must not happen. */
const LEASE_MS = 120_000;

let hf: Holdfast<readonly [], undefined>;
let seenLeases: () => SeenLease[];

function begin(file: string): void {
  const watched = watchedStore(sqliteStore({ file }));
  ({ seenLeases } = watched);
  hf = new Holdfast({ store: watched.store });
  hf.define({ type: TYPE, queue: QUEUE, retry: { maxAttempts: 2, baseMs: 1 }, run });
}

async function run(job: RunningJob<RacePayload>): Promise<unknown> {
  const { turns, first } = job.payload;
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  if (first === "throw" && job.attempt === 1) throw new Error("the first attempt fails");
  if (first === "snooze" && job.checkpoint === null) {
    await job.save("snoozed");
    return job.snooze(0);
  }
  return null;
}

async function obey(order: Order): Promise<Answers[Order["what"]]> {
  switch (order.what) {
    case "begin":
      begin(order.file);
      return null;
    case "enqueue":
      return Promise.all(
        order.jobs.map(async ({ payload, options }) => {
          const { id, status } = await hf.enqueue(TYPE, payload, options);
          return { id, status };
        }),
      );
    case "work":
      await hf.work({ queues: [QUEUE], concurrency: order.concurrency, leaseMs: LEASE_MS });
      return null;
    case "finish":
      await hf.close();
      return seenLeases();
  }
}

function tell(reply: Reply): void {
  process.send?.(reply);
}

process.on("message", (order: Order) => {
  obey(order).then(
    (answer) => tell({ what: "answer", answer }),
    (error: unknown) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      tell({ what: "trouble", text });
    },
  );
});
// The test is gone: nobody would end this process any more.
process.on("disconnect", () => process.exit(3));
tell({ what: "up" });
