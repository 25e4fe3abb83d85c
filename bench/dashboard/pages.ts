/** Every page, opened one after the other in one tab, and looked at for a while. */
import { setTimeout as pause } from "node:timers/promises";
import { judged, type Figure } from "../server-load/figure.ts";
import { percentile } from "../statistics.ts";
import type { Client, LongTask } from "./client.ts";
import { TENANTS } from "./names.ts";

/** Most pages ask again every two to five seconds, the slowest every ten. */
const LOOKED_AT_MS = 11_000;
export const ANSWER_LINE_MS = 300;

interface PageFigures {
  readonly name: string;
  readonly openedMs: number;
  readonly answers: readonly number[];
  /** Of the page's thread, in milliseconds of processor. */
  readonly busyPerSecond: number;
  readonly whileOpening: readonly LongTask[];
  readonly whileOpen: readonly LongTask[];
}

export async function measurePages(client: Client): Promise<readonly Figure[]> {
  const seen: PageFigures[] = [];
  console.log(
    `\n${row("page", "shown, ms", "calls", "p50, ms", "max, ms", "busy, ms/s", "long tasks, longest ms")}`,
  );
  for (const [name, hash] of await placesOf(client)) {
    client.takeAnswers();
    const opening = await client.go(hash);
    const busyBefore = await client.busyMs();
    await pause(LOOKED_AT_MS);
    const open = { from: opening.to, to: await client.now() };
    const busyMs = (await client.busyMs()) - busyBefore;
    const figures = {
      ...{ name, openedMs: opening.to - opening.from, answers: client.takeAnswers() },
      busyPerSecond: (busyMs * 1_000) / (open.to - open.from),
      whileOpening: await client.longTasks(opening),
      whileOpen: await client.longTasks(open),
    };
    seen.push(figures);
    console.log(words(figures));
  }
  console.log("");
  const answers = seen.flatMap((page) => page.answers);
  const slowest = seen.toSorted((a, b) => Math.max(...b.answers) - Math.max(...a.answers))[0];
  const max = Math.max(...answers);
  return [
    judged(
      ...([`slowest answer to a page (${slowest?.name})`, `${Math.round(max)} ms`] as const),
      ...([`within ${ANSWER_LINE_MS} ms`, max <= ANSWER_LINE_MS] as const),
    ),
    longTasksFigure(
      "pages, after the first load",
      seen.flatMap((one) => [...one.whileOpening, ...one.whileOpen]),
    ),
  ];
}

export function longTasksFigure(where: string, tasks: readonly LongTask[]): Figure {
  const value = tasks.length === 0 ? "none" : tasksWords(tasks);
  return judged(`long tasks above 50 ms: ${where}`, value, "none", tasks.length === 0);
}

function tasksWords(tasks: readonly LongTask[]): string {
  return tasks.length === 0 ? "–" : `${tasks.length}, ${Math.round(longestOf(tasks))} ms`;
}

function longestOf(tasks: readonly LongTask[]): number {
  return Math.max(...tasks.map(({ ms }) => ms));
}

function words(page: PageFigures): string {
  const { name, openedMs, answers, busyPerSecond, whileOpening, whileOpen } = page;
  const tasks = `opening ${tasksWords(whileOpening)}; then ${tasksWords(whileOpen)}`;
  const times =
    answers.length === 0 ? ["–", "–"] : [percentile(answers, 0.5), Math.max(...answers)];
  const [middle, max] = times.map((ms) => (typeof ms === "number" ? String(Math.round(ms)) : ms));
  return row(
    name,
    String(Math.round(openedMs)),
    String(answers.length),
    middle ?? "",
    max ?? "",
    busyPerSecond.toFixed(1),
    tasks,
  );
}

function row(name: string, ...cells: readonly string[]): string {
  const [tasks = "", ...numbers] = cells.toReversed();
  return `${name.padEnd(24)}${numbers
    .toReversed()
    .map((one) => one.padStart(11))
    .join("")}   ${tasks}`;
}

/** What the navigation offers, and one thing of each kind. */
async function placesOf({ page }: Client): Promise<readonly (readonly [string, string])[]> {
  const links = page.locator("nav.nav a:not(.brand)");
  const own = await links.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  const first = async (path: string, field: string): Promise<string> => {
    const asked = [`./api/v1/${path}`, field] as const;
    return page.evaluate(async ([place, name]) => {
      const { data } = (await (await fetch(place)).json()) as {
        data: { items: Record<string, string>[] };
      };
      return data.items[0]?.[name] ?? "";
    }, asked);
  };
  const fault = await first("dead-letters/groups?limit=1", "fingerprint");
  const dead = await first("jobs?status=dead&limit=1", "id");
  const waiting = await first(`jobs?status=queued&queue=${TENANTS}&limit=1`, "id");
  return [
    ...own.map((link) => [link.slice(2), link] as const),
    ["a queue of 10,000 lines", `#/queues/${TENANTS}`],
    ["a fault", `#/dead-letters?fault=${fault}`],
    ["a dead job", `#/jobs/${dead}`],
    ["a waiting job", `#/jobs/${waiting}`],
    ["jobs, dead", "#/jobs?q=status%3Adead"],
    ["jobs, of a group", `#/jobs?q=queue%3A${TENANTS}+group%3Atenant-77`],
    ["jobs, by words", `#/jobs?q=fault-3`],
  ];
}
