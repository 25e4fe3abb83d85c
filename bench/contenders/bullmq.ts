/** BullMQ 6 through its public API. One API for two stores: Redis, and PostgreSQL. */
import { CONCURRENCY, type Session } from "../contender.ts";
import { JOB_TYPE, type Payload } from "../payload.ts";
import { pieces } from "./peer-packages.ts";

/** What is used of the package, by shape: it is not there in a clone without peers. */
export interface BullmqClasses {
  Queue: new (name: string, options: object) => Queue;
  Worker: new (
    name: string,
    processor: (job: { readonly data: unknown }) => Promise<void>,
    options: object,
  ) => Worker;
}
interface Queue {
  on(event: "error", listener: (error: Error) => void): void;
  waitUntilReady(): Promise<unknown>;
  add(type: string, data: unknown): Promise<unknown>;
  addBulk(jobs: readonly { readonly name: string; readonly data: unknown }[]): Promise<unknown>;
  close(): Promise<void>;
}
interface Worker {
  on(event: "error", listener: (error: Error) => void): void;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

const QUEUE = "bench";
const BULK_ITEMS = 1_000;

export const BULLMQ_SETUP = `one worker, concurrency ${CONCURRENCY}, everything else by default; keeps finished jobs`;

export async function bullmqSession(
  { Queue, Worker }: BullmqClasses,
  connection: object,
): Promise<Pick<Session, "enqueue" | "enqueueAll" | "run" | "close">> {
  const queue = new Queue(QUEUE, { connection });
  queue.on("error", fail);
  await queue.waitUntilReady();
  return {
    async enqueue(payload) {
      await queue.add(JOB_TYPE, payload);
    },
    async enqueueAll(payloads) {
      for (const piece of pieces(payloads, BULK_ITEMS)) {
        await queue.addBulk(piece.map((data) => ({ name: JOB_TYPE, data })));
      }
    },
    async run(handler) {
      const work = async ({ data }: { readonly data: unknown }): Promise<void> =>
        handler(data as Payload);
      const worker = new Worker(QUEUE, work, { connection, concurrency: CONCURRENCY });
      worker.on("error", fail);
      await worker.waitUntilReady();
      return () => worker.close();
    },
    close: () => queue.close(),
  };
}

function fail(error: Error): never {
  throw error;
}
