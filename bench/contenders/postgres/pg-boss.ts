/**
 * pg-boss through its public API, twice. By default: its worker, with as many slots as the others
 * have; a slot fetches one job, completes it and waits for the next poll, two seconds by default.
 * Batches: its own calls for those who do the fetching themselves, `fetch` and `complete` of many jobs,
 * in two loops beside each other. Both keep finished jobs.
 */
import { CONCURRENCY, type Contender, type Session } from "../../contender.ts";
import { JOB_TYPE, type Payload } from "../../payload.ts";
import { load, missingPackages, pieces } from "../peer-packages.ts";
import { runLoop } from "../run-loop.ts";
import { describePostgres } from "./facts.ts";

/** What is used of the package, by shape: it is not there in a clone without peers. */
interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<string | null>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  fetch(name: string, options: object): Promise<readonly BossJob[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
  work(name: string, options: object, handler: (jobs: BossJob[]) => Promise<void>): Promise<string>;
  offWork(name: string, options: object): Promise<void>;
  getDb(): { executeSql(sql: string): Promise<{ readonly rows: readonly object[] }> };
}
interface BossJob {
  readonly id: string;
  readonly data: object;
}
type Handler = (payload: Payload) => void;
type Run = (boss: Boss, handler: Handler) => Promise<() => Promise<void>>;

const BULK_ITEMS = 1_000;
const FETCH_LOOPS = 2;
const FETCHED = 500;

export const pgBoss = contender({
  name: "pg-boss",
  setup: `worker, localConcurrency ${CONCURRENCY}, everything else by default; keeps finished jobs`,
  async run(boss, handler) {
    await boss.work(JOB_TYPE, { localConcurrency: CONCURRENCY }, async (jobs) => {
      for (const { data } of jobs) handler(data as Payload);
    });
    return () => boss.offWork(JOB_TYPE, { wait: true });
  },
});

export const pgBossBatches = contender({
  name: "pg-boss batches",
  setup: `fetch and complete by hand, ${FETCHED} jobs each, ${FETCH_LOOPS} loops; keeps finished jobs`,
  async run(boss, handler) {
    const stops = Array.from({ length: FETCH_LOOPS }, () =>
      runLoop({
        lease: () => boss.fetch(JOB_TYPE, { batchSize: FETCHED }),
        handle: ({ data }) => handler(data as Payload),
        settle: (jobs) =>
          boss.complete(
            JOB_TYPE,
            jobs.map(({ id }) => id),
          ),
      }),
    );
    return async () => void (await Promise.all(stops.map((stop) => stop())));
  },
});

function contender({
  name,
  setup,
  run,
}: {
  readonly name: string;
  readonly setup: string;
  readonly run: Run;
}): Contender {
  return {
    name,
    setup,
    missing: () => missingPackages("pg-boss"),
    async open(place) {
      const { PgBoss } = (await load("pg-boss")) as { PgBoss: new (options: object) => Boss };
      const boss = new PgBoss({ connectionString: place, schedule: false });
      boss.on("error", (error) => {
        throw error;
      });
      await boss.start();
      await boss.createQueue(JOB_TYPE);
      const session: Session = {
        async enqueue(payload) {
          await boss.send(JOB_TYPE, payload);
        },
        async enqueueAll(payloads) {
          for (const piece of pieces(payloads, BULK_ITEMS)) {
            await boss.insert(
              JOB_TYPE,
              piece.map((data) => ({ data })),
            );
          }
        },
        run: (handler) => run(boss, handler),
        describe: () => describePostgres({ query: (sql) => boss.getDb().executeSql(sql) }),
        close: () => boss.stop({ graceful: true, close: true }),
      };
      return session;
    },
  };
}
