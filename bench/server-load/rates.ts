/** How many enqueues a second, beside a bare route and beside the library itself. */
import { join } from "node:path";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { judged, told, type Figure, type MeasureOptions } from "./figure.ts";
import { QUIET, start } from "./processes.ts";
import { job, send } from "./send.ts";

const ROUNDS = 3;
const BATCH = 100;
const CONNECTIONS = 64;
const BATCH_CONNECTIONS = 8;

export async function measureRates(
  folder: string,
  { isSmall }: MeasureOptions,
): Promise<readonly Figure[]> {
  const count = isSmall ? 500 : 5_000;
  const singles = Array.from({ length: count }, (_, n) => job(n));
  const batches = Array.from({ length: (isSmall ? 2_000 : 20_000) / BATCH }, (_, n) => ({
    items: Array.from({ length: BATCH }, (__, m) => job(n * BATCH + m)),
  }));
  const items = batches.length * BATCH;
  const ours = await start("be-server", join(folder, "ours.db"));
  const bare = await start("be-bare", join(folder, "bare.db"));
  const hf = new Holdfast({ store: sqliteStore({ file: join(folder, "own.db") }), logger: QUIET });
  const rate = {
    single: [] as number[],
    bare: [] as number[],
    batch: [] as number[],
    own: [] as number[],
  };
  try {
    for (const { port } of [ours, bare]) {
      await send(port, singles.slice(0, 1_000), { connections: CONNECTIONS });
    }
    // Side by side in every round: a machine that gets slower gets slower for all of them.
    for (let round = 0; round < ROUNDS; round += 1) {
      const alone = { connections: CONNECTIONS };
      rate.single.push(await perSecond(count, () => send(ours.port, singles, alone)));
      rate.bare.push(await perSecond(count, () => send(bare.port, singles, alone)));
      const many = { connections: BATCH_CONNECTIONS };
      rate.batch.push(await perSecond(items, () => send(ours.port, batches, many)));
      rate.own.push(await perSecond(items, () => enqueueAll(hf, batches)));
    }
  } finally {
    await Promise.all([ours.kill(), bare.kill(), hf.close()]);
  }
  const single = median(rate.single) / median(rate.bare);
  const batch = median(rate.batch) / median(rate.own);
  return [
    told(`enqueue, single, ${CONNECTIONS} connections, a second`, words(rate.single)),
    told("the same by a bare Hono route that inserts a row", words(rate.bare)),
    judged("share of the bare route", single.toFixed(2), "at least 0.50", single >= 0.5),
    told(`enqueue, in batches of ${BATCH}, a second`, words(rate.batch)),
    told("the same by the library itself", words(rate.own)),
    judged("share of the library", batch.toFixed(2), "at least 0.25", batch >= 0.25),
  ];
}

async function enqueueAll(
  hf: Holdfast,
  batches: readonly { readonly items: readonly ReturnType<typeof job>[] }[],
): Promise<void> {
  let next = 0;
  const some = async () => {
    while (next < batches.length) await hf.enqueueAll(batches[next++]?.items ?? []);
  };
  await Promise.all(Array.from({ length: BATCH_CONNECTIONS }, some));
}

async function perSecond(count: number, act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return count / ((performance.now() - began) / 1_000);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const words = (values: readonly number[]) => Math.round(median(values)).toLocaleString("en");
