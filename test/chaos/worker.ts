/**
 * A worker process. SIGTERM stops it gracefully; everything else that is done to it, it does not
 * expect.
 */
import { beginChild, tellUp, type ChildOptions } from "./child.ts";
import { QUEUE, SIDE_QUEUE } from "./contracts.ts";
import { handleAll } from "./handlers.ts";
import { monotonicMs, type Witness } from "./witness.ts";

export interface WorkerOptions extends ChildOptions {
  readonly concurrency: number;
  readonly graceMs: number;
}

const { options, witness, hf } = await beginChild<WorkerOptions>();
const { concurrency, leaseMs, graceMs } = options;
handleAll(hf, witness);
watchEventLoop(witness, { leaseMs });
await hf.work({ queues: [QUEUE, SIDE_QUEUE], concurrency, leaseMs });
// Before anybody is told that it is up: then it may be asked to stop.
process.once("SIGTERM", () => {
  void hf.close({ graceMs }).then(() => process.exit(0));
});
witness.saw({ what: "up", concurrency });
tellUp();

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
