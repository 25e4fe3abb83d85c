/** Fills the place, starts what works on it, looks, and stops by its id whatever was started. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { storeOfUrl } from "holdfast/connect";
import { chromium, type Browser } from "playwright-core";
import { chromiumBinary } from "../../test/servers/chromium.ts";
import { judged, told, type Figure } from "../server-load/figure.ts";
import { Client } from "./client.ts";
import { fillStore } from "./fill.ts";
import { TOKEN } from "./names.ts";
import { measurePages } from "./pages.ts";
import { measurePaint } from "./paint.ts";
import type { Place } from "./place.ts";
import { start } from "./processes.ts";
import { measureStay, type Workforce } from "./stay.ts";

const CLIENTS = 3;
const MOST_BYTES = 150_000;

export interface MeasureOptions {
  readonly jobs: number;
  readonly minutes: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

export async function measureAll(place: Place, options: MeasureOptions): Promise<Figure[]> {
  const executablePath = await chromiumBinary();
  if (executablePath === null) throw new Error("there is no Chromium here, and no way to get one");
  const stops: (() => Promise<void>)[] = [];
  const aborted = new Promise<never>((_, reject) => {
    options.signal.addEventListener("abort", () => reject(options.signal.reason as Error));
  });
  const measuring = async (): Promise<Figure[]> => {
    const filled = await fill(place, options.jobs);
    const run = async <Name extends Parameters<typeof start>[0]>(role: Name) => {
      const started = await start(role, place.url);
      stops.push(started.kill);
      return started;
    };
    const workforce: Workforce = {
      ...{ server: await run("be-server"), worker: await run("be-worker") },
      producer: await run("be-producer"),
    };
    const browser = await chromium.launch({
      ...{ executablePath, args: ["--no-sandbox", "--disable-gpu"] },
    });
    stops.push(() => browser.close());
    return [...filled, sizeFigure(), ...(await look(browser, workforce, options.minutes))];
  };
  const measured = measuring();
  // Ended early, it fails wherever it is: what it stands on is taken away below.
  measured.catch(() => {});
  try {
    return await Promise.race([measured, aborted]);
  } finally {
    for (const stop of stops.toReversed()) await stop().catch(() => {});
  }
}

async function fill(place: Place, count: number): Promise<Figure[]> {
  const began = performance.now();
  const { jobs, groups, queues } = await fillStore(await storeOfUrl(place.url), count);
  await place.rest();
  const seconds = Math.round((performance.now() - began) / 1_000);
  return [told("jobs, groups, queues", `${jobs}, ${groups}, ${queues} (in ${seconds} s)`)];
}

async function look(browser: Browser, workforce: Workforce, minutes: number): Promise<Figure[]> {
  const { url } = workforce.server;
  const first = await Client.open(browser);
  const cookies = await first.logIn(url, TOKEN);
  const clients = [first];
  while (clients.length < CLIENTS) {
    const client = await Client.open(browser, cookies);
    await client.page.goto(`${url}/`);
    await client.settled();
    clients.push(client);
  }
  const paint = await measurePaint(browser, url, cookies);
  // The others look at the overview meanwhile.
  const pages = await measurePages(first);
  const stay = await measureStay(clients, workforce, minutes);
  const refused = clients.flatMap((client) => client.refused);
  for (const one of refused.slice(0, 10)) console.log(`refused: ${one}`);
  const none = judged("calls that were refused", String(refused.length), "0", refused.length === 0);
  return [...paint, ...pages, ...stay, none];
}

function sizeFigure(): Figure {
  const folder = fileURLToPath(new URL("../../packages/server/dist/dashboard/", import.meta.url));
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => gzipSync(readFileSync(join(file.parentPath, file.name))).length)
    .reduce((sum, size) => sum + size, 0);
  const value = `${Math.ceil(bytes / 1_000)} kB`;
  return judged("dashboard, gzipped in all", value, "under 150 kB", bytes < MOST_BYTES);
}
