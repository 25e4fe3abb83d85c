/**
 * graphile-worker through its public API, twice. By default: as it comes, with as many slots as the
 * others have. Tuned: with what its documentation on performance offers, a local queue that leases in
 * batches, and completions that travel together. It always deletes a finished job, and completes by id
 * alone, so it does less than those that keep jobs and check a fence.
 */
import pg from "pg";
import { CONCURRENCY, type Contender, type Session } from "../../contender.ts";
import { JOB_TYPE, type Payload } from "../../payload.ts";
import { load, missingPackages, pieces } from "../peer-packages.ts";
import { describePostgres } from "./facts.ts";

/** What is used of the package, by shape: it is not there in a clone without peers. */
interface GraphileWorker {
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(type: string, payload: unknown): Promise<unknown>;
    addJobs(jobs: readonly object[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => object;
}

const POOL = 10;
const BULK_ITEMS = 1_000;

export const graphileWorker = contender({
  name: "graphile-worker",
  setup: `concurrency ${CONCURRENCY}, pool of ${POOL}, everything else by default; deletes finished jobs`,
  tuning: {},
});

export const graphileWorkerTuned = contender({
  name: "graphile-worker tuned",
  setup:
    `concurrency ${CONCURRENCY}, pool of ${POOL}, local queue of 500, completions batched ` +
    "(delay 0); deletes finished jobs",
  tuning: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
});

function contender({
  name,
  setup,
  tuning,
}: {
  readonly name: string;
  readonly setup: string;
  readonly tuning: object;
}): Contender {
  return {
    name,
    setup,
    missing: () => missingPackages("graphile-worker"),
    async open(place) {
      const { makeWorkerUtils, run, Logger } = (await load("graphile-worker")) as GraphileWorker;
      const pgPool = new pg.Pool({ connectionString: place, max: POOL });
      // It insists on a listener, and logs a warning without one.
      pgPool.on("error", () => {});
      pgPool.on("connect", (client) => client.on("error", () => {}));
      const logger = new Logger(() => () => {});
      const utils = await makeWorkerUtils({ pgPool, logger });
      await utils.migrate();
      const session: Session = {
        async enqueue(payload) {
          await utils.addJob(JOB_TYPE, payload);
        },
        async enqueueAll(payloads) {
          for (const piece of pieces(payloads, BULK_ITEMS)) {
            await utils.addJobs(piece.map((payload) => ({ identifier: JOB_TYPE, payload })));
          }
        },
        async run(handler) {
          const runner = await run({
            pgPool,
            logger,
            concurrency: CONCURRENCY,
            noHandleSignals: true,
            parsedCronItems: [],
            taskList: { [JOB_TYPE]: (payload: unknown) => handler(payload as Payload) },
            preset: { worker: tuning },
          });
          return () => runner.stop();
        },
        describe: () => describePostgres(pgPool),
        async close() {
          await utils.release();
          await pgPool.end();
        },
      };
      return session;
    },
  };
}
