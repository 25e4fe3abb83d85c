/**
 * A worker process. SIGTERM stops it gracefully; everything else that is done to it, it does not
 * expect.
 */
import { setTimeout as pause } from "node:timers/promises";
import { StoreOpenError, StoreUnavailableError } from "../../packages/holdfast/src/index.ts";
import { beginChild, tellUp, type ChildOptions } from "./child.ts";
import { ownQueue, QUEUE, SIDE_QUEUE } from "./contracts.ts";
import { handleAll } from "./handlers.ts";
import { monotonicMs, type Witness } from "./witness.ts";

export interface WorkerOptions extends ChildOptions {
  readonly concurrency: number;
  readonly graceMs: number;
  /** Whose place it takes: it has a queue of its own. */
  readonly place: number;
}

const TRY_AGAIN_MS = 100;

const { options, witness, hf, transactions } = await beginChild<WorkerOptions>();
const { concurrency, leaseMs, graceMs, place } = options;
handleAll(hf, witness, transactions);
watchEventLoop(witness, { leaseMs });
await work();
// Before anybody is told that it is up: then it may be asked to stop.
process.once("SIGTERM", () => {
  void hf.close({ graceMs }).then(() => process.exit(0));
});
witness.saw({ what: "up", concurrency });
tellUp();

/** Born while the store is away, it waits for it. */
async function work(): Promise<void> {
  for (;;) {
    try {
      await hf.work({ queues: [QUEUE, SIDE_QUEUE, ownQueue(place)], concurrency, leaseMs });
      return;
    } catch (error) {
      const isAway = error instanceof StoreUnavailableError || error instanceof StoreOpenError;
      if (!isAway) throw error;
      await pause(TRY_AGAIN_MS);
    }
  }
}

/** A worker that got no turn may lose its leases through no fault of its own: write it down. */
function watchEventLoop(by: Witness, { leaseMs }: { readonly leaseMs: number }): void {
  const everyMs = 20;
  let turnedAt = monotonicMs();
  setInterval(() => {
    const now = monotonicMs();
    if (now - turnedAt > leaseMs / 10) by.saw({ what: "stalled", from: turnedAt });
    turnedAt = now;
  }, everyMs).unref();
}
