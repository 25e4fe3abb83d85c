/**
 * One process of a rolling deploy, with the build of Holdfast that it is told to use: it enqueues its jobs, works,
 * and notes each run in a file.
 */
import { appendFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type * as Library from "../../packages/holdfast/src/index.ts";
import type { PlaceAddress } from "../failures/places.ts";

export interface RollingWorkerOptions {
  /** The folder of a build: `packages/holdfast/dist`, of this version or of another. */
  readonly dist: string;
  readonly place: PlaceAddress;
  /** Of its idempotency keys and groups. */
  readonly name: string;
  readonly jobs: number;
  /** One line for each run: `<n> <name of the worker>`. */
  readonly notes: string;
}

const QUEUES = ["rolling.a", "rolling.b"];
const TYPE = "rolling.work";

const STORES = {
  sqlite: ["sqliteStore", (url: string) => ({ file: url })],
  postgres: ["postgresStore", (url: string) => ({ url })],
  redis: [
    "redisStore",
    (url: string) => ({ url: url.split("#")[0], prefix: url.split("#")[1] ?? "" }),
  ],
  mongodb: ["mongodbStore", (url: string) => ({ url })],
} as const;

const { dist, place, name, jobs, notes } = JSON.parse(
  process.argv[2] ?? "{}",
) as RollingWorkerOptions;
const entry = (path: string) => import(pathToFileURL(`${dist}/${path}`).href) as Promise<object>;

// The test is gone: no other process would end this one.
process.stdin.on("end", () => process.exit(3)).resume();
const { Holdfast } = (await entry("index.js")) as typeof Library;
const [factory, options] = STORES[place.name];
const stores = (await entry(`stores/${place.name}/index.js`)) as Record<
  string,
  (options: object) => Library.Store
>;
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hf = new Holdfast({ store: stores[factory]!(options(place.url)), logger });
hf.define({
  type: TYPE,
  queue: QUEUES[0]!,
  retry: { maxAttempts: 3, baseMs: 10 },
  async run(job) {
    const { n } = job.payload as { n: string };
    // Every third fails once: its retry may be another build's.
    if (job.attempt === 1 && n.endsWith("3")) throw new Error("not yet");
    await job.step("note", () => appendFile(notes, `${n} ${name}\n`));
    return { n };
  },
});
await hf.work({ queues: QUEUES, concurrency: 8 });
const items = Array.from({ length: jobs }, (_, index) => ({
  type: TYPE,
  payload: { n: `${name}-${index}` },
  queue: QUEUES[index % QUEUES.length]!,
  idempotencyKey: `${name}-${index}`,
  ...(index % 4 === 0 && { group: `tenant-${index % 20}` }),
  ...(index % 7 === 0 && { delayMs: 500 }),
}));
const receipts = await hf.enqueueAll(items);
if (receipts.some(({ status }) => status !== "added")) process.exit(4);
process.stdout.write("up\n");
process.on("SIGTERM", () => void hf.close({ graceMs: 5_000 }).then(() => process.exit(0)));
