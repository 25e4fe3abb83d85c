/** Tabs that stay open for minutes while work goes on: memory, long tasks, answers, and what they ask of the store. */
import { setTimeout as pause } from "node:timers/promises";
import { judged, told, type Figure } from "../server-load/figure.ts";
import { percentile } from "../statistics.ts";
import type { Client } from "./client.ts";
import type { StoreCalls } from "./counted-store.ts";
import { TENANTS } from "./names.ts";
import { ANSWER_LINE_MS, longTasksFigure } from "./pages.ts";
import type { Started } from "./processes.ts";

const SAMPLES_PER_MINUTE = 4;
/** What a page keeps on purpose (fifteen minutes of samples) and what engines do by themselves are below this. */
const MOST_GROWTH = 1.1;
const STAYS = ["#/overview", "#/jobs", `#/queues/${TENANTS}`];

export interface Workforce {
  readonly server: Started<"be-server">;
  readonly worker: Started<"be-worker">;
  readonly producer: Started<"be-producer">;
}

export async function measureStay(
  clients: readonly Client[],
  { server, worker, producer }: Workforce,
  minutes: number,
): Promise<readonly Figure[]> {
  for (const [at, client] of clients.entries()) await client.go(STAYS[at % STAYS.length] ?? "");
  // Code that is compiled and tables that are filled at first use are no growth.
  await pause(15_000);
  const froms = await Promise.all(clients.map((client) => client.now()));
  for (const client of clients) client.takeAnswers();
  await Promise.all([server.ask(), worker.ask(), producer.ask()]);
  const began = Date.now();
  const heaps = clients.map(() => [] as number[]);
  const take = async () => {
    for (const [at, client] of clients.entries()) heaps[at]?.push(await client.heapBytes());
  };
  await take();
  const rounds = Math.max(2, Math.round(minutes * SAMPLES_PER_MINUTE));
  for (let round = 1; round <= rounds; round += 1) {
    await pause(Math.max(0, began + (round * minutes * 60_000) / rounds - Date.now()));
    await take();
  }
  const seconds = (Date.now() - began) / 1_000;
  const [calls, { ended }, { added }] = await Promise.all([
    ...([server.ask(), worker.ask(), producer.ask()] as const),
  ]);
  const tasks = await Promise.all(
    clients.map(async (client, at) =>
      client.longTasks({ from: froms[at] ?? 0, to: await client.now() }),
    ),
  );
  const answers = clients.flatMap((client) => client.takeAnswers());
  return [
    told("events a second: enqueued + ended", perSecond(added + ended, seconds)),
    ...readFigures(calls, seconds, clients.length),
    ...heaps.map((heap, at) => heapFigure(STAYS[at % STAYS.length] ?? "", heap, minutes)),
    ...(await Promise.all(
      clients.map(async (client, at) =>
        told(`elements of ${STAYS[at % STAYS.length]} at the end`, String(await client.domNodes())),
      ),
    )),
    longTasksFigure(`${clients.length} tabs that stay`, tasks.flat()),
    told(`answers to them, p50 of ${answers.length}`, `${Math.round(percentile(answers, 0.5))} ms`),
    judged(
      ...(["slowest answer to them", `${Math.round(Math.max(...answers))} ms`] as const),
      ...([`within ${ANSWER_LINE_MS} ms`, Math.max(...answers) <= ANSWER_LINE_MS] as const),
    ),
  ];
}

/** The median of the last quarter beside that of the first. */
function heapFigure(where: string, bytes: readonly number[], minutes: number): Figure {
  const part = Math.max(1, Math.floor(bytes.length / 4));
  const early = percentile(bytes.slice(0, part), 0.5);
  const late = percentile(bytes.slice(-part), 0.5);
  const mib = (value: number) => (value / 2 ** 20).toFixed(2);
  const what = `heap of ${where}, ${minutes} min: first, last quarter`;
  const value = `${mib(early)}, ${mib(late)} MiB`;
  return judged(what, value, "flat: at most 1.10 times", late <= early * MOST_GROWTH);
}

function readFigures({ byVerb, countedAt }: StoreCalls, seconds: number, tabs: number): Figure[] {
  const gaps = countedAt.slice(1).map((at, before) => at - (countedAt[before] ?? at));
  const rate = countedAt.length / seconds;
  const others = Object.entries(byVerb)
    .filter(([verb]) => verb !== "count")
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 6)
    .map(([verb, calls]) => `${verb} ${perSecond(calls, seconds)}`);
  return [
    judged(
      `overview reads of the store a second, ${tabs} tabs together`,
      ...([rate.toFixed(2), "at most 1", rate <= 1.01] as const),
    ),
    told("shortest time between two of them", `${Math.min(...gaps)} ms`),
    told("other calls of the server to the store, a second", others.join(", ")),
  ];
}

function perSecond(count: number, seconds: number): string {
  return (count / seconds).toFixed(1);
}
