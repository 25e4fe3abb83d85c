/**
 * Somebody's report has been reading for half a minute, or forgot to end its transaction: no row that
 * dies meanwhile can be cleaned away. Jobs go in and out beside it, and every lease has to find its way
 * past more and more dead rows. What counts is how the rate at the end stands against the start.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Session } from "../contender.ts";
import { load } from "../contenders/peer-packages.ts";
import { payloadsOf } from "../payload.ts";
import type { Line, MeasureBench, Metrics, Scenario } from "../scenario.ts";

const BACKLOG = 10_000;
const PUT_AT_ONCE = 500;
/** Of the marks, so many at the start and at the end are compared. */
const COMPARED = 2;

/** What is used of the driver. */
interface Client {
  connect(): Promise<void>;
  query(sql: string): Promise<{ readonly rows: readonly object[] }>;
  end(): Promise<void>;
}

export const pinned: Scenario = {
  name: "pinned",
  title: "30 s of jobs in and out beside a pinned snapshot",
  mostRounds: 2,
  variants: ({ quick }) => {
    const [marks, everyMs] = quick ? [5, 200] : [10, 3_000];
    const measure = (bench: MeasureBench): Promise<Metrics> => load30(bench, { marks, everyMs });
    return [{ label: "holdfast", contender: "holdfast", measure }];
  },
  lines: [
    series("jobs/s in each tenth", "rates", "jobs/s"),
    series("dead rows at each tenth", "deadRows", "rows"),
    {
      kind: "ratio",
      label: "rate at the end ÷ at the start",
      of: { variant: "holdfast", metric: "endRate" },
      by: [{ variant: "holdfast", metric: "startRate" }],
      target: { atLeast: 0.7 },
    },
  ],
};

function series(label: string, metric: string, unit: string): Line {
  return { kind: "series", label, unit, variant: "holdfast", metric };
}

async function load30(
  bench: MeasureBench,
  { marks, everyMs }: { readonly marks: number; readonly everyMs: number },
): Promise<Metrics> {
  const place = await bench.place();
  const session = await bench.open(place);
  const flow = await startFlow(session);
  await pause(everyMs); // Hot first.
  const { default: pg } = (await load("pg")) as {
    default: { Client: new (url: string) => Client };
  };
  const reader = new pg.Client(place);
  await reader.connect();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await reader.query("SELECT pg_current_xact_id()");
  const watcher = new pg.Client(place);
  await watcher.connect();
  const rates: number[] = [];
  const deadRows: number[] = [];
  let at = performance.now();
  let startedBefore = flow.started();
  for (let mark = 0; mark < marks; mark++) {
    await pause(everyMs);
    const [now, started] = [performance.now(), flow.started()];
    rates.push(((started - startedBefore) / (now - at)) * 1_000);
    [at, startedBefore] = [now, started];
    deadRows.push(await deadRowsSeen(watcher));
  }
  await reader.query("COMMIT");
  for (const client of [reader, watcher]) await client.end();
  await flow.stop();
  await session.close();
  return {
    rates,
    deadRows,
    startRate: mean(rates.slice(0, COMPARED)),
    endRate: mean(rates.slice(-COMPARED)),
  };
}

/** A producer and a worker, with a bounded backlog between them. */
async function startFlow(session: Session): Promise<{ started(): number; stop(): Promise<void> }> {
  let started = 0;
  let given = 0;
  let isOver = false;
  let roomMade: () => void = () => {};
  const isFull = (): boolean => given - started > BACKLOG - PUT_AT_ONCE;
  const stopWorker = await session.run(() => {
    started += 1;
    if (!isFull()) roomMade();
  });
  const produced = (async () => {
    while (!isOver) {
      if (isFull()) await new Promise<void>((resolve) => (roomMade = resolve));
      await session.enqueueAll(payloadsOf((given += PUT_AT_ONCE), PUT_AT_ONCE));
    }
  })();
  return {
    started: () => started,
    async stop() {
      isOver = true;
      await produced;
      await stopWorker();
    },
  };
}

/** By the server's own statistics: of its tables, those that hold jobs. */
async function deadRowsSeen(client: Client): Promise<number> {
  const { rows } = await client.query(
    "SELECT coalesce(sum(n_dead_tup), 0)::float8 AS n FROM pg_stat_user_tables",
  );
  return Number(Object.values(rows[0] ?? {})[0]);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
