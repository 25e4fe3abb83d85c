/**
 * A fleet that has nothing to do: what does it ask of PostgreSQL? Whole transactions a second by the server's
 * own count, over all workers together.
 */
import { setTimeout as pause } from "node:timers/promises";
import { load } from "../contenders/peer-packages.ts";
import { startDrainer } from "../drainer.ts";
import type { Line, MeasureBench, Metrics, Scenario, Size, Target, Variant } from "../scenario.ts";

/** What is used of the driver. */
interface Client {
  connect(): Promise<void>;
  query(sql: string): Promise<{ readonly rows: readonly object[] }>;
  end(): Promise<void>;
}

const FEW = "nothing on record";
const MANY = "5k queues on record";
const TARGET: Target = { atMost: 20 };

export const idle: Scenario = {
  name: "idle",
  title: "50 idle workers in 10 processes (--idle-seconds): transactions a second in all",
  mostRounds: 1,
  variants: (size) => [variant(FEW, 0, size), variant(MANY, size.quick ? 100 : 5_000, size)],
  lines: [FEW, MANY].map((name): Line => ({
    ...{ kind: "figure", label: name, unit: "transactions/s", variant: name },
    ...{ metric: "perSecond", target: TARGET },
  })),
};

function variant(label: string, others: number, { quick, idleSeconds }: Size): Variant {
  const fleet = quick
    ? { processes: 2, workers: 2, settleMs: 1_500, idleMs: 3_000 }
    : { processes: 10, workers: 5, settleMs: 10_000, idleMs: idleSeconds * 1_000 };
  const measure = (bench: MeasureBench): Promise<Metrics> => countTransactions(bench, fleet);
  const prefill = others > 0 ? { prefill: { ready: 0, queues: others } } : {};
  return { label, contender: "holdfast", ...prefill, measure };
}

interface IdleFleet {
  readonly processes: number;
  /** In each. */
  readonly workers: number;
  /** Not measured: they find out about each other, and slow down. */
  readonly settleMs: number;
  readonly idleMs: number;
}

async function countTransactions(bench: MeasureBench, fleet: IdleFleet): Promise<Metrics> {
  const { store, contender } = bench;
  const place = await bench.place();
  const order = { store, contender, place, workers: fleet.workers };
  const drainers: Awaited<ReturnType<typeof startDrainer>>[] = [];
  for (let process = 0; process < fleet.processes; process += 1) {
    const drainer = await startDrainer(order, () => {});
    drainer.go();
    drainers.push(drainer);
  }
  const { default: pg } = (await load("pg")) as {
    default: { Client: new (url: string) => Client };
  };
  // From another database: what is counted must not count itself.
  const beside = new URL(place);
  const database = beside.pathname.slice(1);
  beside.pathname = "/postgres";
  const client = new pg.Client(beside.href);
  await client.connect();
  const counted = async (): Promise<number> => {
    const { rows } = await client.query(
      `SELECT (xact_commit + xact_rollback)::float8 AS n FROM pg_stat_database
       WHERE datname = '${database}'`,
    );
    return Number(Object.values(rows[0] ?? {})[0]);
  };
  await pause(fleet.settleMs);
  const [before, beganAt] = [await counted(), performance.now()];
  await pause(fleet.idleMs);
  const seconds = (performance.now() - beganAt) / 1_000;
  const perSecond = ((await counted()) - before) / seconds;
  await client.end();
  await Promise.all(drainers.map((drainer) => drainer.stop()));
  return { perSecond };
}
