/** A process with a worker: it runs jobs of a queue, and carries on whatever operation there is. */
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { defineWork } from "./failing-jobs.ts";
import { openPlace, type PlaceAddress } from "./places.ts";

export interface WorkerOptions {
  readonly place: PlaceAddress;
  readonly queue: string;
  readonly mendedBy: string;
}

const { place, queue, mendedBy } = JSON.parse(process.argv[2]!) as WorkerOptions;
// The test is gone: nobody would end this process any more.
process.stdin.on("end", () => process.exit(3)).resume();
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hf = new Holdfast({ store: await openPlace(place), logger });
defineWork(hf, mendedBy);
await hf.work({ queues: [queue], concurrency: 50 });
process.stdout.write("up\n");
