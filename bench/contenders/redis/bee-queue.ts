/** bee-queue 2 through its public API, set up for producing and working without listeners. */
import { CONCURRENCY, type Contender, type Session } from "../../contender.ts";
import type { Payload } from "../../payload.ts";
import { load, missingPackages, pieces } from "../peer-packages.ts";
import { describeRedis } from "./facts.ts";

/** What is used of the package, by shape: it is not there in a clone without peers. */
interface Queue {
  on(event: "error", listener: (error: Error) => void): void;
  ready(): Promise<unknown>;
  createJob(data: unknown): { save(): Promise<unknown> };
  saveAll(jobs: readonly object[]): Promise<ReadonlyMap<object, Error>>;
  process(concurrency: number, handler: (job: { readonly data: unknown }) => Promise<void>): void;
  close(timeoutMs: number): Promise<void>;
}

const QUEUE = "bench";
const BULK_ITEMS = 1_000;
const CLOSE_MS = 5_000;

export const beeQueue: Contender = {
  name: "bee-queue",
  setup: `concurrency ${CONCURRENCY}, no events and no job objects kept in memory; keeps finished jobs`,
  missing: () => missingPackages("bee-queue"),
  async open(place) {
    const { default: BeeQueue } = (await load("bee-queue")) as {
      default: new (name: string, options: object) => Queue;
    };
    const queue = new BeeQueue(QUEUE, {
      redis: { url: place },
      getEvents: false,
      sendEvents: false,
      storeJobs: false,
    });
    queue.on("error", (error) => {
      throw error;
    });
    await queue.ready();
    const session: Session = {
      async enqueue(payload) {
        await queue.createJob(payload).save();
      },
      async enqueueAll(payloads) {
        for (const piece of pieces(payloads, BULK_ITEMS)) {
          const refused = await queue.saveAll(piece.map((payload) => queue.createJob(payload)));
          for (const error of refused.values()) throw error;
        }
      },
      async run(handler) {
        queue.process(CONCURRENCY, async ({ data }) => handler(data as Payload));
        // A worker of it ends with its queue.
        return async () => {};
      },
      describe: () => describeRedis(place),
      close: () => queue.close(CLOSE_MS),
    };
    return session;
  },
};
