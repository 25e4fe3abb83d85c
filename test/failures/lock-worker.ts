/** A process with a worker whose jobs run under a lock: each says so in a file, and goes on until another file is there. */
import { appendFile, access } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { defineJob, Holdfast } from "../../packages/holdfast/src/index.ts";
import { openPlace, type PlaceAddress } from "./places.ts";

export interface LockWorkerOptions {
  readonly place: PlaceAddress;
  /** One line for each start and each end: `<pid> <start|end> <job id>`. */
  readonly notes: string;
  /** Handlers end once it is there. */
  readonly goOn: string;
}

export const QUEUE = "snapshots";
export const LEASE_MS = 4_000;

export const SNAPSHOT = defineJob<{ month: string }>({
  ...{ type: "snapshot", queue: QUEUE, retry: { maxAttempts: 1 } },
  lock: { key: "monthly_snapshot", scope: ({ month }: { month: string }) => month },
});

const [, program, options] = process.argv;
if (program?.endsWith("lock-worker.ts") && options) {
  const { place, notes, goOn } = JSON.parse(options) as LockWorkerOptions;
  const note = (what: string, id: string) => appendFile(notes, `${process.pid} ${what} ${id}\n`);
  const mayGoOn = () =>
    access(goOn).then(
      () => true,
      () => false,
    );
  // The test is gone: no other process would end this one.
  process.stdin.on("end", () => process.exit(3)).resume();
  const quiet = () => {};
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const hf = new Holdfast({ store: await openPlace(place), logger });
  hf.handle(SNAPSHOT, async ({ id }) => {
    await note("start", id);
    while (!(await mayGoOn())) await pause(20);
    await note("end", id);
  });
  await hf.work({ queues: [QUEUE], concurrency: 30, leaseMs: LEASE_MS, renewMs: 1_000 });
  process.stdout.write("up\n");
}
