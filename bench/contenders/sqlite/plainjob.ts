/**
 * plainjob through its public API, on the driver its documentation names (better-sqlite3).
 *
 * Durability: `defineQueue` sets `synchronous = NORMAL`, under which a power cut may take acknowledged
 * jobs back. It offers no option for that, but the connection is ours, so it is set to FULL afterwards,
 * like everybody else's, and read back for the report.
 *
 * Its best sensible settings: no logging; a poll every millisecond instead of every second, which only
 * matters while it is idle; one worker, because a worker runs one job at a time and every call is
 * synchronous, so that more of them in one process only take turns. Where finished jobs are to be
 * deleted, that is done by its own call every 500 jobs: its timer does not fire during a drain, because
 * the worker never lets the event loop turn while there is work.
 */
import type { Contender, Session } from "../../contender.ts";
import { JOB_TYPE, type Payload } from "../../payload.ts";
import { RAW_BATCH_ITEMS } from "../../raw/batch-items.ts";
import { load, missingPackages, pieces } from "../peer-packages.ts";
import { describeSqlite } from "./facts.ts";

/** What is used of the two packages, by shape: they are not there in a clone without peers. */
interface Database {
  pragma(statement: string): unknown;
  prepare(sql: string): { get(): object | undefined };
}
interface Queue {
  add(type: string, data: unknown): { id: number };
  addMany(type: string, data: readonly unknown[]): { ids: number[] };
  removeDoneJobs(olderThanMs: number): void;
  close(): void;
}
interface Plainjob {
  better(database: Database): unknown;
  defineQueue(options: object): Queue;
  defineWorker(
    type: string,
    handler: (job: { readonly data: string }) => void,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> };
}

const SILENT = { error() {}, warn() {}, info() {}, debug() {} };
const HOUR_MS = 3_600_000;
const REMOVE_EVERY = 500;

export const plainjob: Contender = {
  name: "plainjob",
  setup: "one worker, poll 1 ms, no logging, synchronous raised to FULL; keeps finished jobs",
  missing: () => missingPackages("plainjob", "better-sqlite3"),
  async open(place, { keep }) {
    const { better, defineQueue, defineWorker } = (await load("plainjob")) as Plainjob;
    const { default: Sqlite } = (await load("better-sqlite3")) as {
      default: new (file: string) => Database;
    };
    const database = new Sqlite(place);
    const queue = defineQueue({
      connection: better(database),
      logger: SILENT,
      maintenanceInterval: HOUR_MS,
    });
    database.pragma("synchronous = FULL");
    const session: Session = {
      async enqueue(payload) {
        queue.add(JOB_TYPE, payload);
      },
      async enqueueAll(payloads) {
        // One transaction a call, so it gets the same pieces as the others.
        for (const piece of pieces(payloads, RAW_BATCH_ITEMS.sqlite))
          queue.addMany(JOB_TYPE, piece);
      },
      async run(handler) {
        let ran = 0;
        const work = ({ data }: { readonly data: string }): void => {
          handler(JSON.parse(data) as Payload);
          if (!keep && ++ran % REMOVE_EVERY === 0) queue.removeDoneJobs(0);
        };
        // Spelled so.
        const options = { queue, pollIntervall: 1, logger: SILENT };
        const worker = defineWorker(JOB_TYPE, work, options);
        const ended = worker.start();
        return async () => {
          await worker.stop();
          await ended;
        };
      },
      describe: async () =>
        describeSqlite(
          "better-sqlite3",
          (sql) => Object.values(database.prepare(sql).get() ?? {})[0],
        ),
      close: async () => queue.close(),
    };
    return session;
  },
};
